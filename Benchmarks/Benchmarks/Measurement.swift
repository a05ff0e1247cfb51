import Foundation

/// A piece of code that is timed; one call performs several operations.
struct Contender {
    let name: String
    /// The number of operations in one call of `run`.
    let count: Int
    let run: () -> Void

    init(_ name: String, count: Int = 1, _ run: @escaping () -> Void) {
        self.name = name
        self.count = count
        self.run = run
    }
}

/// A row of the table: a measured value, and its ratio to a baseline.
struct MeasuredRow {
    let name: String
    let value: Double
    let unit: String
    let baseline: String
    /// The number that is compared with the target.
    ///
    /// For a timed row, this is the median of the ratios of all rounds. This median is not affected by noise that lasts
    /// longer than a round.
    let ratio: Double
    let target: Target?

    /// The intended limit of a ratio.
    enum Target {
        case atMost(Double)
        case atLeast(Double)

        /// True if the ratio meets the target; a `factor` above 1 allows a worse ratio.
        func isMet(by ratio: Double, within factor: Double = 1) -> Bool {
            switch self {
            case .atMost(let limit): ratio <= limit * factor
            case .atLeast(let limit): ratio >= limit / factor
            }
        }

        var description: String {
            switch self {
            case .atMost(let limit): "≤ " + MeasuredRow.format(limit)
            case .atLeast(let limit): "≥ " + MeasuredRow.format(limit)
            }
        }
    }

    static func format(_ number: Double) -> String {
        number >= 100 ? String(format: "%.0f", number) : String(format: "%.2f", number)
    }
}

/// Times contenders in turn, so that other work of the machine affects all contenders equally.
struct Stopwatch {
    let rounds: Int

    /// Returns the nanoseconds for each operation, by round and contender.
    func times(of contenders: [Contender]) -> [[Double]] {
        for contender in contenders { contender.run() }
        return (0..<rounds).map { _ in
            contenders.map { contender in
                let start = DispatchTime.now().uptimeNanoseconds
                contender.run()
                return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(contender.count)
            }
        }
    }

    /// Returns a row for a contender against each of its baselines.
    ///
    /// - Parameters:
    ///   - name: The name of the measurement.
    ///   - contender: The code that is timed.
    ///   - baselines: The code to compare with, and the target for each ratio. With `atLeast`, the ratio is how many
    ///     times slower the baseline is.
    /// - Returns: A row for each baseline.
    func rows(_ name: String, _ contender: Contender, against baselines: [(Contender, MeasuredRow.Target?)])
        -> [MeasuredRow]
    {
        let times = times(of: [contender] + baselines.map(\.0))
        let own = median(times.map { $0[0] })
        return baselines.enumerated().map { index, baseline in
            var isSpeedup = false
            if case .atLeast = baseline.1 { isSpeedup = true }
            let ratio = median(times.map { isSpeedup ? $0[index + 1] / $0[0] : $0[0] / $0[index + 1] })
            return MeasuredRow(
                name: name,
                value: own,
                unit: "ns",
                baseline: baseline.0.name,
                ratio: ratio,
                target: baseline.1
            )
        }
    }
}

func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Keeps the optimiser from removing a computation whose result is not used.
@inline(never)
func use<Value>(_ value: Value) {}
