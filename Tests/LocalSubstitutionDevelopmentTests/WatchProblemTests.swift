import Foundation
import Testing

@testable import LocalSubstitutionDevelopment

@Suite("Why a folder cannot be watched")
struct WatchProblemTests {
    @Test("A limit of inotify is named, with what to do about it, and not as the system calls it")
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

    @Test("Whatever else is in the way is told as the system says it")
    func others() {
        #expect(WatchProblem(instance: EMFILE, hasDescriptors: false) == .system(EMFILE))
        #expect(WatchProblem(instance: ENOMEM, hasDescriptors: true) == .system(ENOMEM))
        #expect(WatchProblem(directory: EMFILE) == .system(EMFILE))
        #expect(WatchProblem.system(EMFILE).localizedDescription == "Too many open files")
    }
}
