import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The words with which users of other tools ask for what this tool calls something else.
enum OtherTools {
    // MARK: - Commands

    /// Returns what to type instead of a command that does not exist; nil for an empty command line.
    static func remedy(forCommand words: [String], among commands: [Command], _ tool: ToolName) -> String? {
        guard let first = words.first else { return nil }
        let word = first.drop { $0 == "-" }.lowercased()
        if word == "substitute" {
            return words.count > 1 ? "leave the second \"substitute\" out" : "see \(tool.words("--help"))"
        }
        if let (_, purposes) = verbs.first(where: { $0.words.contains(word) }) {
            let parts = purposes.map { line, purpose in
                line.isEmpty ? purpose : "\(quoted(tool.words(line))) \(purpose)"
            }
            return parts.dropLast().map { $0 + ", " }.joined() + (parts.count > 1 ? "and " : "") + (parts.last ?? "")
        }
        let known = commands.map(\.name) + ["--help", "--version"]
        if let name = suggestion(for: first, among: known) { return "did you mean \(quoted(name))?" }
        // The command may be missing, as in `substitute https://example.com/`.
        if first.contains("://") { return "\(quoted(tool.words("add \(first)"))) loads a URL and adds its entry" }
        return first.hasSuffix(".json") || first.contains("/")
            ? "the command comes first, as in \(quoted(tool.words("check \(first)")))"
            : "the commands are \(commands.filter(\.isListed).map(\.name).joined(separator: ", "))"
    }

    typealias Purpose = (line: String, purpose: String)

    /// The commands of other tools, with the command line that does the same here, and what that command line does.
    static let verbs: [(words: [String], purposes: [Purpose])] = rows(
        """
        version v ver | --version: prints the version
        h ? man usage commands | --help: lists the commands
        serve server dev host http live | preview --serve: serves a page of the files, and updates it after every \
        save
        start run launch up go play proxy intercept | browse https://example.com/: opens a site with the files in \
        place | preview --serve: serves a page of the files
        open show view display gui ui | preview --open: opens a page of the files that ship
        watch follow monitor w | check --watch: checks again after every save
        fix repair autofix format fmt correct heal | check: says for each mistake what to write; no command \
        corrects the manifest by itself
        validate lint doctor audit inspect analyze analyse scan review errors | check: reports everything that is \
        wrong with the manifest
        build compile bundle make publish deploy release ship push upload commit | : nothing has to be built or \
        sent, as the app ships the folder as it is | check: reports what is wrong with it
        ls dir tree files inventory stats size du urls entries print cat | preview --format text: lists the URLs \
        with their files
        get fetch download wget curl load save install clone mirror scrape grab insert append put map link \
        register | add https://example.com/a.png: loads a URL into the folder, and adds its entry
        crawl record snapshot archive spider har | add --in-browser https://example.com/: loads a page in a \
        browser, and adds the files that it loads
        sync refresh pull upgrade renew reload synchronize synchronise up-to-date | update: loads the files again \
        that have changed on their servers
        diff status compare changed changes stale st | update --dry-run: says which files differ from their \
        servers' versions
        test e2e screenshot assert prove visual | verify https://example.com/: says whether the files still fit a \
        site
        why which match find lookup resolve query search trace debug whatis | explain https://example.com/a.png: \
        says which file answers a URL, or why none does
        export dump save-as html | preview -o files.html: writes a page of the files | preview --format json: \
        prints the entries | extension -o FOLDER: writes a browser extension
        web-extension addon plugin xpi crx chrome firefox safari | extension -o FOLDER: writes an extension that \
        shows the files in a browser
        create new generate scaffold setup bootstrap begin initialize initialise | init: creates the folder with \
        a first manifest
        remove rm delete del unlink uninstall drop erase unmap | : delete the entry from the manifest, and then \
        its file | check: names the files that no entry uses
        prune clean gc purge unused cleanup tidy reset clear | check --all: names each file that no entry uses, \
        so that you can delete it
        rename mv move cp copy | : rename the file, and write its new name in the manifest | check: names the \
        files that do not exist
        replace overwrite set edit change | : edit the manifest and its files in any editor | add --replace \
        https://example.com/a.png: loads one file again
        """
    ).map { words, purposes in
        let pairs = purposes.map { $0.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false) }
        return (words, pairs.map { (String($0[0]), String($0[1])) })
    }

    /// Reads a table: in each row first words, and then parts.
    private static func rows(_ text: String) -> [(words: [String], parts: [String])] {
        text.split(separator: "\n").map { row in
            let parts = row.components(separatedBy: " | ")
            return (parts[0].components(separatedBy: " "), Array(parts.dropFirst()))
        }
    }

    // MARK: - Options

    /// Returns what to write instead of an option that a command does not have; nil if nothing is known.
    static func remedy(forOption name: String, _ options: [any CommandOption], among commands: [Command]) -> String? {
        if let near = suggestion(for: name, among: options.map(\.name)) { return "did you mean --\(near)?" }
        let word = name.lowercased()
        let own = Set(options.map(\.name))
        let old = OldWords.options.values.compactMap { $0["--\(word)"] ?? $0["-\(word)"] }.sorted()
        if let option = old.first(where: own.contains) { return "did you mean --\(option)?" }
        if let (_, meant) = synonyms.first(where: { $0.words.contains(word) }),
            let option = meant.first(where: own.contains)
        {
            return "did you mean --\(option)?"
        }
        if let (_, sentence) = notOptions.first(where: { $0.words.contains(word) }) { return sentence }
        let others = commands.filter { $0.options.contains { $0.name == word } }.map(\.name)
        if !others.isEmpty { return "\(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it" }
        let names = options.map { "--\($0.name)" }.joined(separator: ", ")
        return options.count > 1 ? "the options are \(names)" : "the command has no options"
    }

    /// The names of options in other tools, with the options here that may do the same, the likeliest first.
    static let synonyms: [(words: [String], meant: [String])] = rows(
        """
        to o out dest destination target into save-to outfile out-file save | as output har
        d dir directory outdir out-dir output-dir output-folder prefix files root | folder output as
        file filename name path save-as rename output-document | as output
        f force overwrite clobber refresh update reload | replace
        r recursive deep assets with-assets references page-requisites dependencies with-dependencies links \
        follow-links resources all-assets | with-references
        host domain domains server origin hosts allow-host allow-hosts span-hosts cross-origin third-party | \
        also-host pages
        max-file-size max-filesize max-bytes limit-file | max-size
        max limit budget total size quota cap | max-total max-size max-unused
        min minimum require coverage min-coverage share | at-least
        threshold fuzz max-diff diff pixel-tolerance allow-difference | tolerance at-least
        fail-on-warning fail-on-warnings warnings-as-errors werror error pedantic max-warnings | strict
        verbose v list-all everything details full | all misses
        n dryrun simulate what-if noop no-write preview check test | dry-run
        headed no-headless show-browser visible gui window interactive | show
        headless no-window background | headless
        viewport screen width mobile emulate phone desktop tablet resolution | device
        delay sleep pause settle | wait
        time-limit max-time deadline | timeout
        ignore skip without except block filter-out blacklist no | exclude mask allow-changed
        include types type kind kinds filter | only format
        ignore-query no-query drop-query without-query strip-queries | strip-query
        hide selector exclude-selector ignore-selector | mask
        reporter output-format sarif github text xml junit ci | format
        html report report-dir html-report | output
        chromium executable browser-path channel executable-path | browser
        live live-reload follow hot w server s | watch serve
        recording har | used har
        unused | all used
        verb request x | method
        """
    ).map { ($0.words, $0.parts[0].components(separatedBy: " ")) }

    /// The names of options in other tools for which there is no option here, with what to do instead.
    private static let notOptions: [(words: [String], sentence: String)] = rows(
        """
        fix autofix auto-fix repair write | no command corrects the manifest by itself; each message says what to \
        write
        manifest config input in i c m cwd project base | name the manifest without an option, as in: substitute \
        check App/Substitutions
        url href page link u | write the URL without an option
        version | the version is printed by: substitute --version
        q quiet silent no-output | nothing makes a command quieter; the exit status says whether all is well
        v verbose debug trace | the command already says all that it knows
        y yes no-input assume-yes | the command asks no questions
        port p address bind | the port is chosen by the system, and printed
        color colour no-color no-colour | colours are for a terminal only; NO_COLOR=1 switches them off
        user-agent cookie cookies auth user token | files ship to everyone, so they are loaded without a sign-in
        f force overwrite template | existing files are never replaced; remove them first, or name another folder
        """
    ).map { ($0.words, $0.parts[0]) }

}
