import CWebKitGTK

/// A pointer to an object as one to another of its classes, without the check that C's macros make.
func cast<From, To>(_ pointer: UnsafeMutablePointer<From>) -> UnsafeMutablePointer<To> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: To.self)
}

/// The text of an error, which is freed.
func message(_ error: UnsafeMutablePointer<GError>?) -> String {
    guard let error else { return "unknown" }
    defer { g_error_free(error) }
    return String(cString: error.pointee.message)
}

/// A closure that C code carries as a pointer, and that is called once.
final class Box<Value> {
    private let body: (Value) -> Void

    init(_ body: @escaping (Value) -> Void) { self.body = body }

    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func take(_ pointer: UnsafeMutableRawPointer?) -> (Value) -> Void {
        guard let pointer else { return { _ in } }
        return Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body
    }
}

/// What is handed from GTK's thread to a place that only hands it back.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
