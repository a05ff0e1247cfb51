import CWebKitGTK
import Foundation
import FoundationNetworking
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// Answers WebKitGTK's requests to mirrors with the replies of a closure.
///
/// On Apple platforms, `SchemeHandler` does the same for `WKWebView`.
final class SchemeBridge: Sendable {
    private let answer: @Sendable (URLRequest) -> SchemeReply

    init(_ answer: @escaping @Sendable (URLRequest) -> SchemeReply) { self.answer = answer }

    func register(in context: UnsafeMutablePointer<WebKitWebContext>) {
        let security = webkit_web_context_get_security_manager(context)
        for scheme in MirrorURL.schemes {
            // In WebKitGTK, a response from a mirror always has the mirror's URL. When a real page loads a stylesheet
            // from a mirror, relative references in the stylesheet therefore resolve to mirrors. WebKit would block
            // these mirrors as mixed content if their scheme were not registered as secure.
            webkit_security_manager_register_uri_scheme_as_secure(security, scheme)
            webkit_web_context_register_uri_scheme(
                context,
                scheme,
                { request, data in
                    guard let request, let data else { return }
                    Unmanaged<SchemeBridge>.fromOpaque(data).takeUnretainedValue().start(request)
                },
                Unmanaged.passRetained(self).toOpaque(),
                { data in if let data { Unmanaged<SchemeBridge>.fromOpaque(data).release() } }
            )
        }
    }

    private func start(_ task: UnsafeMutablePointer<WebKitURISchemeRequest>) {
        g_object_ref(UnsafeMutableRawPointer(task))
        let task = Unchecked(task)
        guard let request = Self.request(of: task.value) else { return Self.fail(task.value, "no URL") }
        let reply = answer(request)
        Task.detached {
            var writer: FileHandle?
            do {
                for try await element in reply {
                    switch element {
                    case .response(let response):
                        let pipe = Pipe()
                        writer = pipe.fileHandleForWriting
                        let reader = dup(pipe.fileHandleForReading.fileDescriptor)
                        GTKThread.post { Self.tell(response, reading: reader, to: task.value) }
                    case .data(let data):
                        // After the page is closed, this call throws.
                        try writer?.write(contentsOf: data)
                    }
                }
                if writer == nil { throw URLError(.badServerResponse) }
            } catch  where writer == nil {
                GTKThread.post { Self.fail(task.value, "\(error)") }
            } catch {}
            try? writer?.close()
        }
    }

    private static func request(of task: UnsafeMutablePointer<WebKitURISchemeRequest>) -> URLRequest? {
        guard let text = webkit_uri_scheme_request_get_uri(task), let url = URL(string: String(cString: text)) else {
            return nil
        }
        var request = URLRequest(url: url)
        if let method = webkit_uri_scheme_request_get_http_method(task) { request.httpMethod = String(cString: method) }
        if let view = webkit_uri_scheme_request_get_web_view(task), let page = webkit_web_view_get_uri(view) {
            request.mainDocumentURL = URL(string: String(cString: page))
        }
        if let headers = webkit_uri_scheme_request_get_http_headers(task) {
            var iterator = SoupMessageHeadersIter()
            soup_message_headers_iter_init(&iterator, headers)
            var (name, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
            while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
                if let name, let value {
                    request.addValue(String(cString: value), forHTTPHeaderField: String(cString: name))
                }
            }
        }
        if let stream = webkit_uri_scheme_request_get_http_body(task) {
            request.httpBody = bytes(of: stream)
            g_object_unref(stream)
        }
        return request
    }

    private static func bytes(of stream: UnsafeMutablePointer<GInputStream>) -> Data {
        var result = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = g_input_stream_read(stream, &buffer, gsize(buffer.count), nil, nil)
            if count <= 0 { return result }
            result.append(contentsOf: buffer[..<Int(count)])
        }
    }

    private static func tell(
        _ response: HTTPURLResponse,
        reading descriptor: Int32,
        to task: UnsafeMutablePointer<WebKitURISchemeRequest>
    ) {
        let stream = g_unix_input_stream_new(descriptor, 1)
        let length = gint64(response.value(forHTTPHeaderField: "Content-Length") ?? "") ?? -1
        let answer = webkit_uri_scheme_response_new(stream, response.statusCode == 416 ? -1 : length)
        webkit_uri_scheme_response_set_status(answer, guint(response.statusCode), nil)
        let headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE)
        for case let (name as String, value as String) in response.allHeaderFields {
            soup_message_headers_append(headers, name, value)
        }
        if let type = response.value(forHTTPHeaderField: "Content-Type") {
            webkit_uri_scheme_response_set_content_type(answer, type)
        }
        webkit_uri_scheme_response_set_http_headers(answer, headers)
        webkit_uri_scheme_request_finish_with_response(task, answer)
        g_object_unref(stream)
        g_object_unref(UnsafeMutableRawPointer(answer))
        g_object_unref(UnsafeMutableRawPointer(task))
    }

    private static func fail(_ task: UnsafeMutablePointer<WebKitURISchemeRequest>, _ reason: String) {
        let error = g_error_new_literal(g_quark_from_string("substitution"), 1, reason)
        webkit_uri_scheme_request_finish_error(task, error)
        g_error_free(error)
        g_object_unref(UnsafeMutableRawPointer(task))
    }
}
