// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of SwiftUI that the tutorial's app uses. With these declarations, the app is typechecked on machines without
// SwiftUI. Nothing runs.
@_exported public import Foundation

// On Linux, URL loading is a separate module.
#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif

@MainActor public protocol App {
    associatedtype Body: Scene
    init()
    var body: Body { get }
}

extension App {
    public static func main() {}
}

@MainActor public protocol Scene {}

public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}

@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension View {
    public func monospaced() -> some View { Text("") }
    public func padding() -> some View { Text("") }
    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { Text("") }
}

extension View where Body == Never {
    public var body: Never { fatalError("Nothing runs.") }
}

extension Never: View {
    public typealias Body = Never
}

@MainActor @resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> some View { Text("") }
}

public struct ScrollView<Content: View>: View {
    public typealias Body = Never
    public init(@ViewBuilder content: () -> Content) {}
}

public struct Text: View {
    public typealias Body = Never
    public init(_ content: some StringProtocol) {}
    public func bold() -> Text { self }
}

@propertyWrapper public struct State<Value> {
    private let value: Value
    public init(wrappedValue: Value) { value = wrappedValue }
    public var wrappedValue: Value {
        get { value }
        nonmutating set {}
    }
}
