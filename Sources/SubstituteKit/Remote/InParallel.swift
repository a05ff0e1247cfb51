/// Runs `body` for each item, a few at a time, and returns the results in the order of the items.
func inParallel<Item: Sendable, Result: Sendable>(
    _ items: [Item],
    _ body: @escaping @Sendable (Item) async -> Result
) async -> [Result] {
    // Browsers open more than four connections to one server, so servers accept more than four. The user's other
    // programs can use the remaining connections.
    let width = 4
    return await withTaskGroup(of: (Int, Result).self) { group in
        var results: [Result?] = Array(repeating: nil, count: items.count)
        for (index, item) in items.enumerated() {
            if index >= width, let (done, result) = await group.next() { results[done] = result }
            group.addTask { (index, await body(item)) }
        }
        for await (done, result) in group { results[done] = result }
        return results.compactMap(\.self)
    }
}
