import CWebKitGTK

/// Casts a pointer to an object to another of the object's classes, without the check that the C macros make.
func cast<From, To>(_ pointer: UnsafeMutablePointer<From>) -> UnsafeMutablePointer<To> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: To.self)
}

/// Returns the message of an error, and frees the error.
func message(_ error: UnsafeMutablePointer<GError>?) -> String {
    guard let error else { return "unknown" }
    defer { g_error_free(error) }
    return String(cString: error.pointee.message)
}

/// A closure that is passed through C code as a pointer, and is called once.
final class Box<Value> {
    private let body: (Value) -> Void

    init(_ body: @escaping (Value) -> Void) { self.body = body }

    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func take(_ pointer: UnsafeMutableRawPointer?) -> (Value) -> Void {
        guard let pointer else { return { _ in } }
        return Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body
    }
}

/// A value that is passed from GTK's thread to other code, which only passes it back to that thread.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
