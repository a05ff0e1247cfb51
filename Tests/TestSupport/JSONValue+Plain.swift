package import Foundation
package import LocalSubstitutionCache

extension JSONValue {
    /// The value as Foundation objects, for comparison with what Foundation parses.
    package var plain: NSObject {
        switch kind {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .number(let digits): NSNumber(value: Double(digits) ?? .nan)
        case .string(let text): text as NSString
        case .array(let elements): elements.map(\.plain) as NSArray
        case .object(let members):
            Dictionary(members.map { ($0.name, $0.value.plain) }, uniquingKeysWith: { $1 }) as NSDictionary
        case .unreadable: "unreadable" as NSString
        }
    }
}
