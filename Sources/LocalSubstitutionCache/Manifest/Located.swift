/// Something of a manifest with the offset of its first byte.
struct Located<Value: Sendable>: Sendable {
    let value: Value
    let offset: Int
}
