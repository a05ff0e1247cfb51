import Foundation

extension Verification {
    /// Returns the files of the page's pictures; pages are numbered from 1.
    func pictureFiles(number: Int) -> [String: OutputFolder.Content] {
        guard let (network, files) = pictures else { return [:] }
        let all = ["network": network, "files": files, "difference": comparison.picture]
        let shown = comparison.count == 0 ? ["files": files] : all
        return Dictionary(
            uniqueKeysWithValues: shown.map { kind, text in
                ("\(number)-\(kind).png", .bytes(Data(base64Encoded: text) ?? Data()))
            }
        )
    }
}
