import Foundation

// Foundation on Linux gives no public access to the `CFRunLoop` of a `RunLoop`. The threads of `ProtocolLoad` poll, so
// nothing has to wake them.
extension RunLoop {
    func getCFRunLoop() -> RunLoop { self }
}

func CFRunLoopWakeUp(_ runLoop: RunLoop) {}
