// The module and a class in it have the same name, so tests cannot write the module's name in front of these names.
package typealias FakeURLProtocol = URLProtocol
package typealias FakeURLProtocolClient = URLProtocolClient
package typealias FakeURLSession = URLSession
package typealias FakeURLSessionConfiguration = URLSessionConfiguration
package typealias FakeURLSessionDataDelegate = URLSessionDataDelegate
package typealias FakeURLSessionDataTask = URLSessionDataTask
package typealias FakeURLSessionTask = URLSessionTask
