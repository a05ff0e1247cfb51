extension RandomAccessCollection<UInt8> where Index == Int {
    /// Returns the offset of the first byte that is not UTF-8; nil if every byte is.
    ///
    /// The standard library decodes the bytes. `String(validating:)` reports only that there is such a byte, and is not
    /// available on every system.
    package func firstInvalidUTF8() -> Int? {
        var parser = Unicode.UTF8.ForwardParser()
        // Most text begins with plain ASCII.
        var offset = firstIndex { $0 >= 0x80 } ?? endIndex
        var iterator = self[offset...].makeIterator()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded): offset += encoded.count
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }
}
