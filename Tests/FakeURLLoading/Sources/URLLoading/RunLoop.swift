import Foundation

// Foundation on Linux has no public access to what a run loop is made of. The threads of `ProtocolLoad` look again by
// themselves, so that nothing has to wake them.
extension RunLoop {
    func getCFRunLoop() -> RunLoop { self }
}

func CFRunLoopWakeUp(_ runLoop: RunLoop) {}
