/// A value from a manifest, with the offset of its first byte.
package struct Located<Value: Sendable>: Sendable {
    package let value: Value
    package let offset: Int
}
