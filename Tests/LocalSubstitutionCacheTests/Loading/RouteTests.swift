import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("The route that loads a request")
struct RouteTests {
    private struct Row: CustomStringConvertible {
        let service: Route.FallbackNeed
        let kind: Route.Kind
        let next: Route.Next
        let receiver: Route.Receiver
        var route: Route { Route(service, kind, next: next, receiver: receiver) }
        var description: String { "\(service) \(kind) \(next) \(receiver)" }
    }

    private static let rows: [Row] = Route.FallbackNeed.allCases.flatMap { service in
        Route.Kind.allCases.flatMap { kind in
            Route.Next.allCases.flatMap { next in
                Route.Receiver.allCases.map { Row(service: service, kind: kind, next: next, receiver: $0) }
            }
        }
    }

    @Test("Each of the 72 combinations has the expected route on Linux", Platform.measuredOnLinux)
    func linux() {
        for row in Self.rows {
            let expected: Route =
                switch (row.service, row.kind, row.next, row.receiver) {
                case (.file, .data, _, _), (.file, .upload, _, _): .file
                case (_, _, .none, _): .none
                case (.none, _, _, _), (_, .download, _, _): .network
                case (.afterAnswer, .data, .system, .registered): .backingSession
                case (.whenOffline, .data, _, _), (.whenOffline, .upload, _, _): .ownTask
                case (.afterAnswer, .data, _, _), (.afterAnswer, .upload, _, _): .ownTask
                }
            #expect(row.route == expected, "\(row)")
        }
    }

    @Test("The route of a file evaluates neither the next class nor the receiver")
    func cheap() {
        func unasked<Value>() -> Value { fatalError("asked for nothing") }
        #expect(Route(.file, .data, next: unasked(), receiver: unasked()) == .file)
    }
}
