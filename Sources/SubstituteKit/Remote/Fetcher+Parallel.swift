import SubstituteCheckKit

extension Fetcher {
    /// Runs `body` for each item, a few at a time, with a fetcher that shows the progress.
    ///
    /// - Returns: The results, in the order of the items.
    static func inParallel<Item: Sendable, Result: Sendable>(
        _ items: [Item],
        _ network: Network,
        _ body: @escaping @Sendable (Item, Fetcher) async -> Result
    ) async -> [Result] {
        let progress = ProgressLine(of: items.count, network.showProgress)
        let fetcher = Fetcher(network) { progress.receive($0) }
        defer {
            fetcher.finish()
            progress.end()
        }
        // Browsers open more than four connections to one server, so servers accept more than four. The user's other
        // programs can use the remaining connections.
        let width = 4
        return await withTaskGroup(of: (Int, Result).self) { group in
            var results: [Result?] = Array(repeating: nil, count: items.count)
            for (index, item) in items.enumerated() {
                if index >= width, let (done, result) = await group.next() { results[done] = result }
                group.addTask {
                    defer { progress.step() }
                    return (index, await body(item, fetcher))
                }
            }
            for await (done, result) in group { results[done] = result }
            return results.compactMap(\.self)
        }
    }
}
