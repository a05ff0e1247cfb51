import Foundation
import LocalSubstitutionCache
import LoopbackServer
import SubstituteCheckKit

/// A connection to a browser by the DevTools protocol: commands with their results, and events.
///
/// Messages are JSON, each followed by a zero byte. https://chromedevtools.github.io/devtools-protocol/
// Mutable state is only accessed inside the lock.
final class DevTools: @unchecked Sendable {
    /// A message that the browser sends on its own, not as the result of a command.
    struct Event: Sendable {
        let method: String
        /// The session of the page, frame or worker; nil for the browser itself.
        let session: String?
        fileprivate let message: Data

        /// Returns a member of the parameters by its path; nil if there is none of this type.
        subscript<Value>(path: String...) -> Value? {
            let root = (try? JSONSerialization.jsonObject(with: message)) as? [String: Any]
            return path.reduce(root?["params"]) { ($0 as? [String: Any])?[$1] } as? Value
        }

        /// Returns the event's parameters; nil if they do not have this type.
        func parameters<Value: Decodable>(_ type: Value.Type = Value.self) -> Value? {
            try? JSONDecoder().decode(Parameters<Value>.self, from: message).params
        }
    }

    /// The reason why a command has no result.
    enum Failure: Error {
        /// The browser refused the command; the string is the message.
        case refused(String)
        /// The browser did not answer in time.
        case silent
        /// The browser has ended; the string is the browser's last output.
        case ended(String)
    }

    private let descriptor: Int32
    private let lock = NSLock()
    private let writing = NSLock()
    private var number = 0
    private var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
    private var lastWords: String?
    /// The browser's last output; nil while it runs.
    var words: String? { lock.withLock { lastWords } }
    /// All events that the browser sends, in order, until it ends.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation?

    /// The timeout, in seconds, for a command that the browser normally answers immediately.
    static let patience = 20.0

    /// The maximum size of a message from the browser, in bytes.
    ///
    /// This is enough for a body of 200 MB, which base64 makes a third larger.
    private static let maximumMessage = 300_000_000
    /// The maximum number of error and console events that are delivered; a page may cause any number of them.
    static let maximumComplaints = 2000
    /// The number of error and console events so far; only accessed on the reading thread.
    private var complaints = 0
    /// True once the descriptor is closed; only accessed inside `writing`.
    private var isClosed = false

    /// - Parameter descriptor: A socket; this object closes it once the other side has ended.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var made: AsyncStream<Event>.Continuation?
        events = AsyncStream { made = $0 }
        continuation = made
        let thread = Thread { [self] in read() }
        thread.name = "DevTools"
        thread.start()
    }

    // MARK: - Commands

    /// Runs a command.
    ///
    /// - Parameters:
    ///   - method: The command's name, such as `Page.navigate`.
    ///   - parameters: Values that JSON can represent.
    ///   - session: The page, frame or worker that receives the command; nil for the browser itself.
    ///   - seconds: The timeout.
    /// - Returns: The command's result.
    /// - Throws: ``Failure``.
    func run<Result: Decodable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:],
        in session: String? = nil,
        within seconds: Double = patience
    ) async throws -> Result {
        let answer = try await answer(method, parameters, session, seconds)
        do {
            return try JSONDecoder().decode(Answer<Result>.self, from: answer).result
        } catch {
            throw Failure.refused("\(method) returned an unexpected result")
        }
    }

    /// Runs a command whose result does not matter.
    func run(
        _ method: String,
        _ parameters: [String: any Sendable] = [:],
        in session: String? = nil,
        within seconds: Double = patience
    ) async throws {
        _ = try await answer(method, parameters, session, seconds)
    }

    /// Sends a command without waiting for a result.
    ///
    /// A target that is paused at its start answers only some commands, so a caller might wait for a result in vain.
    func post(_ method: String, _ parameters: [String: any Sendable] = [:], in session: String?) {
        guard let (_, data) = try? message(method, parameters, session) else { return }
        write(data)
    }

    private func message(
        _ method: String,
        _ parameters: [String: any Sendable],
        _ session: String?
    ) throws -> (id: Int, Data) {
        let id = lock.withLock {
            number += 1
            return number
        }
        var message: [String: any Sendable] = ["id": id, "method": method, "params": parameters]
        message["sessionId"] = session
        return (id, try JSONSerialization.data(withJSONObject: message) + Data([0]))
    }

    private func answer(
        _ method: String,
        _ parameters: [String: any Sendable],
        _ session: String?,
        _ seconds: Double
    ) async throws -> Data {
        let (id, data) = try message(method, parameters, session)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let words = lock.withLock {
                    if lastWords == nil { waiting[id] = continuation }
                    return lastWords
                }
                if let words { return continuation.resume(throwing: Failure.ended(words)) }
                DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
                    self?.finish(id, with: .failure(Failure.silent))
                }
                write(data)
                if Task.isCancelled { finish(id, with: .failure(CancellationError())) }
            }
        } onCancel: {
            finish(id, with: .failure(CancellationError()))
        }
    }

    private func finish(_ id: Int, with result: Result<Data, any Error>) {
        lock.withLock { waiting.removeValue(forKey: id) }?.resume(with: result)
    }

    private func write(_ data: Data) {
        writing.withLock {
            // If the browser has ended or no longer reads, shut the socket down, so that the reading thread notices.
            if !isClosed, !Socket.send(data, to: descriptor) { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Shuts down the connection, which also ends the browser.
    ///
    /// If the descriptor is closed already, this function does nothing, because the descriptor's number may belong to
    /// a different file by now.
    func disconnect() {
        writing.withLock {
            if !isClosed { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: - Messages

    private func read() {
        var message = Data()
        let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        defer { part.deallocate() }
        while true {
            let count = Foundation.recv(descriptor, part.baseAddress, part.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return end(lastWords: String(decoding: message, as: UTF8.self)) }
            var rest = UnsafeRawBufferPointer(rebasing: part[..<count])
            while let start = rest.baseAddress, let zero = memchr(start, 0, rest.count) {
                let length = UnsafeRawPointer(zero) - start
                message.append(contentsOf: rest[..<length])
                receive(message)
                message = Data()
                rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
            }
            // If a message is too long, keep only its beginning, which contains the command's number.
            if message.count > Self.maximumMessage { message = message.prefix(1000) }
            message.append(contentsOf: rest)
        }
    }

    private func receive(_ message: Data) {
        struct Head: Decodable {
            struct Problem: Decodable { let message: String }
            let id: Int?
            let method: String?
            let sessionId: String?
            let error: Problem?
        }
        guard let head = try? JSONDecoder().decode(Head.self, from: message) else {
            // The browser writes the command's number first.
            let start = String(decoding: message.prefix(100), as: UTF8.self)
            if let id = start.prefixMatch(of: Self.number).flatMap({ Int($0.1) }) {
                finish(id, with: .failure(Failure.refused("its answer is too long, or not JSON")))
            }
            return
        }
        if let id = head.id {
            finish(id, with: head.error.map { .failure(Failure.refused($0.message)) } ?? .success(message))
        } else if let method = head.method {
            if method.hasPrefix("Runtime.") || method.hasPrefix("Log.") {
                complaints += 1
                if complaints > Self.maximumComplaints { return }
            }
            continuation?.yield(Event(method: method, session: head.sessionId, message: message))
        }
    }

    nonisolated(unsafe) private static let number = /\{"id":(\d+)/

    private func end(lastWords words: String) {
        writing.withLock {
            isClosed = true
            close(descriptor)
        }
        let left = lock.withLock {
            lastWords = words
            defer { waiting = [:] }
            return waiting.values
        }
        for continuation in left { continuation.resume(throwing: Failure.ended(words)) }
        continuation?.finish()
    }
}

private struct Parameters<Value: Decodable>: Decodable { let params: Value }

private struct Answer<Value: Decodable>: Decodable { let result: Value }
