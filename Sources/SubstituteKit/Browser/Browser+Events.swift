import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension Browser {
    func receive(_ event: DevTools.Event) {
        switch event.method {
        case "Fetch.requestPaused":
            if var held: HeldRequest = event.parameters() {
                // For a service worker's own script, both identifiers are the worker's.
                held.isOfServiceWorker = serviceWorkers.contains(held.frameId) && held.networkId != held.frameId
                held.first = first(of: held)
                if !held.hasOutcome { traffic.begin(held) }
                if held.begins(page?.target) { onEvent(.navigating(held.request.url)) }
                if held.hasOutcome, held.resourceType == "Document", held.frameId == page?.target, !held.isRedirect {
                    status = held.responseStatusCode
                }
                deciding += 1
                Task { [held] in
                    await decide(on: held)
                    deciding -= 1
                }
            }
        case "Fetch.authRequired": Task { await answerPassword(event) }
        case "Target.attachedToTarget": attached(event)
        case "Target.detachedFromTarget": detached(event)
        case "Page.frameNavigated":
            let parent: String? = event["frame", "parentId"]
            if parent == nil, event.session == page?.session { onEvent(.navigated) }
        case "Page.loadEventFired": if event.session == page?.session { isLoaded = true }
        case "Page.javascriptDialogOpening": Task { await closeDialog(event) }
        case "Browser.downloadWillBegin": refuseDownload(event)
        case "Inspector.targetCrashed":
            if event.session == page?.session { failure = ToolError("the browser's tab with the page has crashed") }
            if let session = event.session { documents.remove(session) }
        case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
            if let error = ReportedError(event) { complaints.append(error) }
        default: traffic.receive(event)
        }
    }

    /// Returns the first request of the load to which a redirected request belongs; nil for any other request.
    private func first(of held: HeldRequest) -> HeldRequest.Request? {
        let keys = [held.identifier, held.redirectedRequestId].compactMap(\.self)
        let first = keys.compactMap { firstRequests.removeValue(forKey: $0) }.first
        if held.isRedirect || !held.hasOutcome && first != nil {
            firstRequests[held.identifier] = first ?? held.request
        }
        return first
    }

    private func refuseDownload(_ event: DevTools.Event) {
        guard let url: String = event["url"] else { return }
        traffic.refuse(url)
        report("a download was refused: \(shortened(url))", isEvent: true)
    }

    func report(_ sentence: String, isEvent: Bool = false) {
        let isBeyond = isEvent && notes.count >= Self.mostNotes && !notes.contains(sentence)
        let note = isBeyond ? "the page has more dialogs, pop-ups, downloads or requests for a password" : sentence
        if notes.contains(note) { return }
        notes.append(note)
        onEvent(.note(note))
    }

    func ended() {
        let words = devTools.words ?? ""
        // A browser with a window ends if the user has closed the window, or if the browser has failed. After a
        // failure, the last line of the output begins with "status".
        if settings.hasWindow, words.split(separator: "\n").last?.hasPrefix("status ") != true, page != nil {
            isClosed = true
        }
        failure = failure ?? ending(words)
    }

    private func attached(_ event: DevTools.Event) {
        guard let session: String = event["sessionId"], let target: String = event["targetInfo", "targetId"],
            let type: String = event["targetInfo", "type"], let url: String = event["targetInfo", "url"]
        else { return }
        // True for the browser's own pages.
        let isOwn = url.hasPrefix("chrome") || url.hasPrefix("devtools:")
        let isPage = type == "page" && (!isOwn || settings.hasWindow)
        if isPage, event.session == nil {
            if !settings.hasWindow, page != nil {
                report("a pop-up was closed", isEvent: true)
                Task { try? await devTools.run("Target.closeTarget", ["targetId": target]) }
                return
            }
            openPages.insert(target)
        }
        if isPage || type == "iframe" { documents.insert(session) }
        if type == "worker" || type == "shared_worker" { workers.insert(session) }
        if type == "service_worker" { serviceWorkers.insert(target) }
        for (method, parameters) in commands(forDocument: documents.contains(session)) {
            devTools.post(method, parameters, in: session)
        }
        sessions[target] = session
    }

    /// Returns the commands that prepare a page, frame or worker.
    ///
    /// The page, frame or worker is paused until it has received all of these commands.
    private func commands(forDocument isDocument: Bool) -> [(String, [String: any Sendable])] {
        var list: [(String, [String: any Sendable])] = [
            // The browser need not buffer bodies, because the tool reads each body while the browser holds the response
            // (`Fetch.getResponseBody`).
            ("Network.enable", ["maxTotalBufferSize": 0, "maxResourceBufferSize": 0]),
            ("Network.setCacheDisabled", ["cacheDisabled": true]),
            ("Network.setBypassServiceWorker", ["bypass": true]),
        ]
        if !userAgent.isEmpty { list.append(("Network.setUserAgentOverride", ["userAgent": userAgent])) }
        if isDocument {
            list += [("Page.enable", [:]), ("Inspector.enable", [:]), ("Performance.enable", [:])]
            if let device = settings.device {
                let touch: [String: any Sendable] = ["enabled": device.isMobile]
                list += [
                    (
                        "Emulation.setDeviceMetricsOverride",
                        [
                            "width": device.width, "height": device.height, "deviceScaleFactor": device.scale,
                            "mobile": device.isMobile,
                        ]
                    ),
                    ("Emulation.setTouchEmulationEnabled", touch),
                ]
            }
        }
        if settings.suppressesMotion {
            // Scripts can detect that these events are enabled, and some pages then behave differently.
            list += [("Runtime.enable", [:]), ("Log.enable", [:])]
            let calm = [["name": "prefers-reduced-motion", "value": "reduce"]]
            if isDocument { list.append(("Emulation.setEmulatedMedia", ["features": calm])) }
        }
        return list + [("Target.setAutoAttach", Self.attachingAll), ("Runtime.runIfWaitingForDebugger", [:])]
    }

    private func detached(_ event: DevTools.Event) {
        guard let gone: String = event["sessionId"] else { return }
        documents.remove(gone)
        workers.remove(gone)
        let targets = sessions.filter { $0.value == gone }.map(\.key)
        for target in targets { sessions[target] = nil }
        openPages.subtract(targets)
        guard gone == page?.session else { return }
        if settings.hasWindow, let other = openPages.sorted().first(where: { sessions[$0] != nil }) {
            page = sessions[other].map { (other, $0) }
        } else {
            isClosed = settings.hasWindow
            failure = failure ?? ToolError("the page was closed")
        }
    }

    private func closeDialog(_ event: DevTools.Event) async {
        // In a browser with a window, the user closes the dialog.
        guard !settings.hasWindow, let type: String = event["type"], let message: String = event["message"] else {
            return
        }
        if type != "beforeunload" { report("a dialog was closed: \(quoted(message))", isEvent: true) }
        try? await devTools.run("Page.handleJavaScriptDialog", ["accept": type == "beforeunload"], in: event.session)
    }
}
