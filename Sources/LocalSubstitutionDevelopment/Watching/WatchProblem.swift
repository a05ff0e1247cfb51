import Foundation

/// The reason why a folder cannot be watched.
enum WatchProblem: Error, Equatable {
    /// The user has reached the limit of inotify instances; each watcher needs one instance.
    case tooManyInstances
    /// The user has reached the limit of directories that inotify watches.
    case tooManyDirectories
    /// Any other error of the system, as its error number (`errno`).
    case system(Int32)

    /// Creates the reason why inotify(7) refused an instance.
    ///
    /// - Parameters:
    ///   - code: The error number. It is the same for too many instances and for too many open files.
    ///   - hasDescriptors: True if the process can open one more file.
    init(instance code: Int32, hasDescriptors: Bool) {
        self = code == EMFILE && hasDescriptors ? .tooManyInstances : .system(code)
    }

    /// Creates the reason why inotify(7) refused to watch a directory.
    ///
    /// - Parameter code: The error number. At the limit of directories, it is `ENOSPC`, as for a full disk.
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
