import Foundation

/// Measures how the cost of an operation grows with its size, on a machine that also does other work.
package enum Growth {
    /// The limit for the result of ``whenEightfold(_:_:)``: a linear cost gives about 8, a quadratic cost 64.
    package static let limit = 32.0

    /// Returns the factor by which this thread's processor time grows when the size is eight times as large.
    ///
    /// The factor is about 8 if the cost is linear, and about 64 if the cost is quadratic.
    ///
    /// - Parameters:
    ///   - size: The smaller size in a long run; a quarter of it is enough to tell the two apart.
    ///   - work: The work for a given size.
    /// - Returns: The factor. If it reaches ``limit``, both sizes are measured up to five more times. The shortest time
    ///   of each then counts.
    package static func whenEightfold(_ size: Int, _ work: (Int) throws -> Void) rethrows -> Double {
        let size = Program.isLongRun ? size : size / 4
        func cost(_ size: Int) throws -> Double {
            let begin = processorTime()
            try work(size)
            return max(processorTime() - begin, 1e-6)
        }
        // The first run pays for one-time initialisation and does not count.
        _ = try cost(size)
        var (small, large) = try (cost(size), cost(size * 8))
        for _ in 0..<5 where large / small >= limit {
            (small, large) = try (min(small, cost(size)), min(large, cost(size * 8)))
        }
        return large / small
    }

    /// Returns this thread's processor time in seconds (POSIX, `CLOCK_THREAD_CPUTIME_ID`).
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
