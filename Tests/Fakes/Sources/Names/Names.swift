import LocalSubstitutionCache

// In this module these names mean the fakes, and not Foundation's types.
typealias URLSession = FakeURLSession
typealias URLSessionConfiguration = FakeURLSessionConfiguration
typealias URLSessionDataDelegate = FakeURLSessionDataDelegate
typealias URLSessionDataTask = FakeURLSessionDataTask
typealias URLSessionTask = FakeURLSessionTask
