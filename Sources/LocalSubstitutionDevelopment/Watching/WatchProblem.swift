import Foundation

/// The reason why a folder cannot be watched.
enum WatchProblem: Error, Equatable {
    /// inotify gives this user no further instance, of which each watcher has one.
    case tooManyInstances
    /// inotify takes no further directory of this user.
    case tooManyDirectories
    /// What the system says, as an error number.
    case system(Int32)

    /// The reason why inotify(7) gave no instance.
    ///
    /// - Parameters:
    ///   - code: The error number, which does not tell an instance too many from a descriptor too many.
    ///   - hasDescriptors: True while the process may open files.
    init(instance code: Int32, hasDescriptors: Bool) {
        self = code == EMFILE && hasDescriptors ? .tooManyInstances : .system(code)
    }

    /// The reason why inotify(7) did not take a directory.
    ///
    /// - Parameter code: The error number, which for a limit is that of a full disk.
    init(directory code: Int32) {
        self = code == ENOSPC ? .tooManyDirectories : .system(code)
    }
}

extension WatchProblem: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .tooManyInstances: Self.sentence("watchers", "max_user_instances", example: 1024)
        case .tooManyDirectories: Self.sentence("watched folders", "max_user_watches", example: 1_048_576)
        case .system(let code): String(cString: strerror(code))
        }
    }

    private static func sentence(_ things: String, _ setting: String, example: Int) -> String {
        "this user has as many \(things) as fs.inotify.\(setting) allows; end a program that watches folders, such as an "
            + "editor, or raise the limit: sudo sysctl fs.inotify.\(setting)=\(example)"
    }
}
