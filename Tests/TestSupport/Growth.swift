import Foundation

/// How the cost of something grows with its size, on a machine that does other things, too.
package enum Growth {
    /// How many times as much processor time of this thread something takes when its size is eight times as large:
    /// about 8 when the cost is linear, and 64 when it is the square.
    ///
    /// - Parameters:
    ///   - size: The smaller size; large enough that it takes milliseconds.
    ///   - work: Does it; the least of three runs counts.
    /// - Returns: The factor.
    package static func whenEightfold(_ size: Int, _ work: (Int) throws -> Void) rethrows -> Double {
        func cost(_ size: Int) throws -> Double {
            try (0..<3).map { _ in
                let begin = processorTime()
                try work(size)
                return processorTime() - begin
            }.min() ?? 0
        }
        let small = try cost(size)
        return try cost(size * 8) / max(small, 1e-6)
    }

    /// Seconds (POSIX, `CLOCK_THREAD_CPUTIME_ID`).
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
