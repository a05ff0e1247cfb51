extension String {
    /// Creates a text from a file of the folder `Resources`, which the build embeds in the program.
    init(resource: [UInt8]) { self.init(decoding: resource, as: UTF8.self) }
}
