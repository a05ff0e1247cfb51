extension RandomAccessCollection<UInt8> where Index == Int {
    /// The offset of the first byte that is not UTF-8; nil when every byte is.
    ///
    /// Decodes with the standard library. `String(validating:)` tells only whether one exists, and is not on every
    /// system.
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
