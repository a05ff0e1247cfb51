extension RandomAccessCollection<UInt8> where Index == Int {
    /// Returns the offset of the first byte that is not valid UTF-8; nil if all bytes are valid.
    ///
    /// `String(validating:)` would report only that there is an invalid byte, and is not available on every system.
    package func firstInvalidUTF8() -> Int? {
        var parser = Unicode.UTF8.ForwardParser()
        // ASCII needs no decoding, and most text begins with ASCII.
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
