package import SubstitutionStandards

extension UserInformation {
    /// The user names and passwords in one text.
    ///
    /// The text is searched once, and then any number of its parts can be shown without these secrets.
    package struct Secrets {
        /// The ranges of the secrets, in the order of the text, without overlaps.
        private let ranges: [Range<Int>]

        /// Finds the secrets of a whole text.
        package init(in text: some RandomAccessCollection<UInt8>) {
            ranges = UserInformation.occurrences(in: text).map(\.secret)
        }

        /// Returns the range of the secret at an offset; nil if there is none.
        package func range(at offset: Int) -> Range<Int>? {
            ranges[firstIndex(endingAfter: offset)...].first.flatMap { $0.contains(offset) ? $0 : nil }
        }

        /// Returns the bytes of a part of the text, with "…" instead of each secret.
        ///
        /// A secret that lies only partly within the range is replaced, too.
        package func hidden<Text: RandomAccessCollection<UInt8>>(in part: Range<Int>, of text: Text) -> [UInt8]
        where Text.Index == Int {
            var (shown, start): ([UInt8], Int) = ([], part.lowerBound)
            for secret in ranges[firstIndex(endingAfter: start)...] {
                guard start < part.upperBound, secret.lowerBound < part.upperBound else { break }
                shown += text[start..<max(start, secret.lowerBound)]
                shown += "…".utf8
                start = min(secret.upperBound, part.upperBound)
            }
            return shown + text[start..<part.upperBound]
        }

        private func firstIndex(endingAfter offset: Int) -> Int {
            var (low, high) = (0, ranges.count)
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound > offset { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }
}
