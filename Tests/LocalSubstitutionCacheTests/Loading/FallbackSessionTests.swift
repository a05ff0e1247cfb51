import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Cookies, fields and credentials of the app's session")
    final class FallbackSessionTests: InstalledSuite {
        @Test(
            "The session's cookies and additional headers are sent, and a redirect's cookies stored",
            Platform.measuredOnLinux
        )
        func sessionIsKept() async throws {
            let site = try Site(folder, when: "[\"offline\", 503]") { request in
                let fields = ["Set-Cookie": "\(request.path.dropFirst())=1; Path=/"]
                return request.path == "/when"
                    ? .init(status: 302, headers: fields.merging(["Location": "/other"]) { $1 })
                    : .init(headers: fields, body: Data((request.headers["cookie"] ?? "-").utf8))
            }
            defer { site.server.stop() }
            let configuration = site.session.configuration
            configuration.httpAdditionalHeaders = ["X-App": "yes"]
            for kind in [TaskKind.async, .completion] {
                let session = URLSession(configuration: configuration)
                let (_, data) = try await kind.load(site.request, in: session)
                #expect(String(decoding: data, as: UTF8.self).contains("when=1"))
                #expect(site.server.requests.allSatisfy { $0.headers["x-app"] == "yes" })
            }
            #expect(configuration.httpCookieStorage?.cookies?.map(\.name).sorted() == ["other", "when"])
        }

        @Test("A challenge not named in `when` reaches the app's delegate", arguments: ["418", "\"offline\""])
        func challenge(conditions: String) async throws {
            let site = try Site(folder, when: conditions) { request in
                guard request.headers["authorization"] == "Basic bWU6c2VjcmV0" else {
                    return .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""])
                }
                return .text(Self.networkText)
            }
            defer { site.server.stop() }
            let session = URLSession.named(
                site.session.configuration,
                delegate: Collector(credential: URLCredential(user: "me", password: "secret", persistence: .none))
            )
            // If a task has a completion handler, Foundation on Linux asks no delegate about a challenge, and never
            // finishes the task.
            let (head, data) = try await TaskKind.delegate.load(site.request, in: session)
            #expect(head.statusCode == 200)
            #expect(data == Data(Self.networkText.utf8))
        }

        @Test(
            "A challenge that the app's delegate cancels ends the load with the usual error",
            Platform.measuredOnLinux,
            arguments: ["\"offline\"", "418", nil],
            [true, false]
        )
        func challengeCancelled(conditions: String?, hasHandler: Bool) async throws {
            let site = try Site(folder, when: conditions ?? "418") { _ in
                .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
            }
            defer { site.server.stop() }
            if conditions == nil {
                try folder.cache("{}").install(archive: makeArchive())
            }
            let recorder = Recorder()
            let session = URLSession.named(site.session.configuration, delegate: recorder)
            if hasHandler {
                let (_, error) = try await session.result(of: site.request) { _ in }
                #expect((error as? URLError)?.code == .cancelled)
            } else {
                session.dataTask(with: site.request).resume()
                #expect(await recorder.end() == .cancelled)
            }
        }
    }
}
