/// The version of the library and its tools, in what they write.
package let libraryVersion = "unreleased"
