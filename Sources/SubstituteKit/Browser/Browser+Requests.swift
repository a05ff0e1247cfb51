import Foundation
import LocalSubstitutionCache

extension Browser {
    func decide(on held: HeldRequest) async {
        let decision: Decision
        if held.hasOutcome {
            decision = await interceptor.decide(on: held) { [devTools, limit = settings.limit] in
                struct Body: Decodable {
                    let body: String
                    let base64Encoded: Bool
                }
                let body: Body = try await devTools.run(
                    "Fetch.getResponseBody",
                    ["requestId": held.requestId],
                    within: limit
                )
                return body.base64Encoded ? body.body : Data(body.body.utf8).base64EncodedString()
            }
        } else {
            decision = await interceptor.decide(on: held)
        }
        var parameters: [String: any Sendable] = ["requestId": held.requestId]
        switch decision {
        case .proceed: try? await devTools.run("Fetch.continueRequest", parameters)
        case .proceedWithout(let name):
            let fields = held.request.headers.filter { $0.key.lowercased() != name.lowercased() }
            parameters["headers"] = fields.map { ["name": $0.key, "value": $0.value] }
            try? await devTools.run("Fetch.continueRequest", parameters)
        case .answer(let status, let fields, let body):
            parameters["responseCode"] = status
            parameters["responseHeaders"] = fields.map { ["name": $0.name, "value": $0.value] }
            parameters["body"] = body.base64EncodedString()
            try? await devTools.run("Fetch.fulfillRequest", parameters)
        }
        if held.hasOutcome || decision.isFinal { traffic.end(held) }
    }

    func refusePassword(_ event: DevTools.Event) async {
        struct Challenge: Decodable {
            struct Request: Decodable { let url: String }
            let requestId: String
            let request: Request
        }
        guard let challenge: Challenge = event.parameters() else { return }
        report("\(shortened(challenge.request.url)) asks for a password")
        try? await devTools.run(
            "Fetch.continueWithAuth",
            ["requestId": challenge.requestId, "authChallengeResponse": ["response": "CancelAuth"]]
        )
    }
}
