extension Sequence {
    /// Returns groups of elements with equal keys, each at the place of its first element.
    package func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var places: [Key: Int] = [:]
        return reduce(into: []) { groups, element in
            let key = key(element)
            let place = places[key, default: groups.count]
            if place == groups.count { groups.append((key, [])) }
            places[key] = place
            groups[place].elements.append(element)
        }
    }
}
