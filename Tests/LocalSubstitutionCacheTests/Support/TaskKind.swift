import Foundation
import TestSupport

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way in which an app loads a request.
enum TaskKind: String, CaseIterable, Sendable {
    case async, completion, delegate, download, upload

    /// The kinds of task that a network-first entry's file may answer on Linux.
    static let receiving: [TaskKind] = [.async, .completion, .delegate]

    /// Loads `request` and returns the head and the body that the app would get.
    ///
    /// For ``delegate`` the session's delegate must be a ``StrictClient``.
    func load(_ request: URLRequest, in session: URLSession) async throws -> (HTTPURLResponse, Data) {
        let (data, response): (Data, URLResponse) =
            switch self {
            case .async:
                try await session.data(for: request)
            case .completion:
                try await Self.result { session.dataTask(with: request, completionHandler: $0) }
            case .delegate:
                try await Self.delivered(session.dataTask(with: request), in: session)
            case .download:
                try await Self.result { end in
                    session.downloadTask(with: request) { file, response, error in
                        let data = file.flatMap { try? Data(contentsOf: $0) }
                        // Foundation on Linux does not remove the downloaded file.
                        if let file { try? FileManager.default.removeItem(at: file) }
                        end(data, response, error)
                    }
                }
            case .upload:
                try await Self.result {
                    session.uploadTask(with: request, from: Data("sent".utf8), completionHandler: $0)
                }
            }
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (response, data)
    }

    /// Returns a text with everything that an app can observe of a load.
    func trace(_ request: URLRequest, in session: URLSession) async -> String {
        do {
            let (head, data) = try await load(request, in: session)
            let fields = head.allHeaderFields.map { "\($0.key): \($0.value)" }.filter { !$0.hasPrefix("Date") }
                .sorted()
            return "\(head.statusCode) \(head.url?.path ?? "") \(fields) \(data.count) \(data.hashValue)"
        } catch {
            return "\((error as? URLError)?.code.rawValue ?? 0) \(error.localizedDescription)"
        }
    }

    /// Returns what the session's delegate receives; an error counts only before the head.
    private static func delivered(_ task: URLSessionTask, in session: URLSession) async throws -> (Data, URLResponse) {
        let load = await (session.delegate as? StrictClient)?.load(task)
        guard let response = task.response else {
            try load?.end?.get()
            throw URLError(.unknown)
        }
        return (load?.body ?? Data(), response)
    }

    /// Returns what the completion handler of a task receives.
    private static func result(
        of makeTask: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Data, URLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            makeTask { data, response, error in
                if let response {
                    continuation.resume(returning: (data ?? Data(), response))
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }.resume()
        }
    }
}
