import Foundation

/// How the cost of something grows with its size, on a machine that does other things, too.
package enum Growth {
    /// The factor that tells a linear cost, which is about 8, from the square, which is 64.
    package static let limit = 32.0

    /// How many times as much processor time of this thread something takes when its size is eight times as large:
    /// about 8 when the cost is linear, and 64 when it is the square.
    ///
    /// - Parameters:
    ///   - size: The smaller size; large enough that it takes milliseconds.
    ///   - work: Does it.
    /// - Returns: The factor; one of the limit or above only after it was measured again and again, and the least
    ///   counted.
    package static func whenEightfold(_ size: Int, _ work: (Int) throws -> Void) rethrows -> Double {
        func cost(_ size: Int) throws -> Double {
            let begin = processorTime()
            try work(size)
            return max(processorTime() - begin, 1e-6)
        }
        // What is made once is made here.
        _ = try cost(size)
        var (small, large) = try (cost(size), cost(size * 8))
        for _ in 0..<5 where large / small >= limit {
            (small, large) = try (min(small, cost(size)), min(large, cost(size * 8)))
        }
        return large / small
    }

    /// Seconds (POSIX, `CLOCK_THREAD_CPUTIME_ID`).
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
