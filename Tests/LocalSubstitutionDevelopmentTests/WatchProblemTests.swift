import Foundation
import Testing

@testable import LocalSubstitutionDevelopment

@Suite("Reasons why a folder cannot be watched")
struct WatchProblemTests {
    @Test("An exhausted limit of inotify is named together with a remedy")
    func limits() {
        let instances = WatchProblem(instance: EMFILE, hasDescriptors: true)
        #expect(
            instances.localizedDescription == """
                this user has as many watchers as fs.inotify.max_user_instances allows; end a program that watches folders, \
                such as an editor, or raise the limit: sudo sysctl fs.inotify.max_user_instances=1024
                """
        )
        let directories = WatchProblem(directory: ENOSPC)
        #expect(directories.localizedDescription.contains("watched folders as fs.inotify.max_user_watches allows"))
    }

    @Test("Any other problem is described in the system's words")
    func others() {
        #expect(WatchProblem(instance: EMFILE, hasDescriptors: false) == .system(EMFILE))
        #expect(WatchProblem(instance: ENOMEM, hasDescriptors: true) == .system(ENOMEM))
        #expect(WatchProblem(directory: EMFILE) == .system(EMFILE))
        #expect(WatchProblem.system(EMFILE).localizedDescription == "Too many open files")
    }
}
