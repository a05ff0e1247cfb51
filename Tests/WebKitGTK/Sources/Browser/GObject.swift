import CWebKitGTK

/// Casts the pointer to an object to the pointer type of a superclass or subclass.
///
/// Unlike the C macros, this function does not check the object's class.
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

/// A value that only GTK's thread may use.
///
/// Other threads may hold the value and pass it back to GTK's thread.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
