/// The version that the library and its tools write into their output.
package let libraryVersion = "unreleased"
