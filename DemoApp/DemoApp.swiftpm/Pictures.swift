import LocalSubstitutionCache
import SwiftUI

/// The pictures, grouped by the way in which they are loaded.
struct Pictures: View {
    private static let urls = urls("https")

    private static func urls(_ scheme: String) -> [URL] {
        ["header", "ferry", "tide"].compactMap { URL(string: "\(scheme)://pictures.invalid/img/\($0).png") }
    }

    var body: some View {
        List {
            Section("URLSession.shared") {
                ForEach(Self.urls, id: \.self) { Picture(url: $0, session: .shared) }
            }
            Section("A session of its own, with useSubstitutions()") {
                ForEach(Self.urls, id: \.self) { Picture(url: $0, session: .substituting) }
            }
            Section("AsyncImage") {
                ForEach(Self.urls, id: \.self) { AsyncPicture(url: $0) }
            }
            // No server has this address, which is for documentation (RFC 5737).
            Section("A silent network: after two seconds, the file answers") {
                if let url = URL(string: "https://192.0.2.1/tide.png") { Picture(url: url, session: .shared) }
            }
            Section("http, which App Transport Security refuses to load") {
                ForEach(Self.urls("http"), id: \.self) { Picture(url: $0, session: .shared) }
            }
        }
        .navigationTitle("What is in the bundle")
    }
}

extension URLSession {
    /// An ephemeral session whose first protocol class is `SubstitutionURLProtocol`.
    fileprivate static let substituting: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.useSubstitutions()
        return URLSession(configuration: configuration)
    }()
}

/// A picture that a session loads.
private struct Picture: View {
    let url: URL
    let session: URLSession
    @State private var image: UIImage?
    @State private var badge = Badge.loading

    var body: some View {
        Row(name: url.lastPathComponent, image: image.map(Image.init(uiImage:)), badge: badge)
            .task {
                do {
                    let (data, response) = try await session.data(from: url)
                    let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
                    image = UIImage(data: data)
                    badge = status?.hasPrefix("LocalSubstitutionCache; ") == true ? .bundle : .network
                } catch {
                    badge = .nothing
                }
            }
    }
}

/// A picture that SwiftUI loads.
///
/// No server exists for the picture's URL. If a picture is shown, it is from the bundle.
private struct AsyncPicture: View {
    let url: URL

    var body: some View {
        AsyncImage(url: url) { phase in
            switch phase {
            case .success(let image): Row(name: url.lastPathComponent, image: image, badge: .bundle)
            case .failure: Row(name: url.lastPathComponent, image: nil, badge: .nothing)
            default: Row(name: url.lastPathComponent, image: nil, badge: .loading)
            }
        }
    }
}

/// The source of a picture.
private enum Badge: String {
    case loading = "loading"
    case bundle = "from the bundle"
    case network = "from the network"
    case nothing = "not loaded"

    var color: Color {
        switch self {
        case .loading: .gray
        case .bundle: .green
        case .network: .orange
        case .nothing: .red
        }
    }
}

private struct Row: View {
    let name: String
    let image: Image?
    let badge: Badge

    var body: some View {
        HStack {
            Group {
                if let image { image.resizable().scaledToFit() } else { Color.secondary.opacity(0.2) }
            }
            .frame(width: 96, height: 56)
            Text(name)
            Spacer()
            Text(badge.rawValue)
                .font(.caption)
                .padding(.horizontal, 8)
                .padding(.vertical, 3)
                .background(badge.color.opacity(0.2), in: Capsule())
        }
    }
}
