import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

/// The JSON schema of manifests (draft-07), for editors.
///
/// Visual Studio Code's JSON language service reads keywords that are not in the standard: `errorMessage`,
/// `markdownDescription`, `enumDescriptions` and `defaultSnippets`. Other validators ignore these keywords. The texts
/// in these keywords are for designers. The media types and header names are from the library's own tables.
///
/// For a condition, an `enum` provides the completions, and a `pattern` does the check. An `anyOf` with an empty schema
/// makes the `enum` accept every value. If the `enum` did the check, the language service would show its own message
/// instead of the `errorMessage`.
///
/// A schema cannot check files or compare keys. The `check` command does both.
enum Schema {
    /// The text with a seal in its last member.
    static let sealedText = String(
        decoding: Seal.sealed(Data(text.dropLast("\n}\n".count).utf8), ",\n  \"$comment\": \"", "\"\n}\n"),
        as: UTF8.self
    )
    /// The text of the schema; ends in a line break.
    static let text = #"""
        {
          "$schema": "http://json-schema.org/draft-07/schema#",
          "title": "Manifest of LocalSubstitutionCache",
          "description": "Maps remote URLs to the bundled files that answer for them.",
          "markdownDescription": "Maps remote URLs to the bundled files that answer for them.\n\n`\"https://example.com/img/logo.png\": \"img/logo.png\"`",
          "type": "object",
          "errorMessage": "A manifest is { \"https://example.com/img/logo.png\": \"img/logo.png\" }.",
          "defaultSnippets": [
            {
              "label": "An entry for a file",
              "description": "A URL and the file that answers for it.",
              "body": { "https://${1:example.com/img/logo.png}": "${2:img/logo.png}" }
            },
            {
              "label": "An entry for a folder",
              "description": "All files of a folder. Both end in /.",
              "body": { "https://${1:example.com/icons}/": "${2:icons}/" }
            }
          ],
          "properties": {
            "$schema": {
              "type": "string",
              "description": "The path of this schema, with which an editor completes and checks the manifest.",
              "errorMessage": "Write the path of the schema in quotation marks, such as \"../manifest.schema.json\".",
              "examples": ["../manifest.schema.json"]
            },
            "$comment": { "description": "Anything, for people to read." }
          },
          "propertyNames": {
            "pattern": "^(\\$schema|\\$comment|([Hh][Tt][Tt][Pp][Ss]?:)?//[^/?#@*\\u0000-\\u0020\\u007F\\\\]+([/?][^#\\u0000-\\u0020\\u007F\\\\]*)?)$",
            "patternErrorMessage": "This is not a URL that can be substituted. Write https://host/path, or //host/path for http and https, without spaces, user name, wildcards for hosts, or #. A comment is called $comment.",
            "examples": ["https://example.com/img/logo.png", "//example.com/icons/"]
          },
          "additionalProperties": { "$ref": "#/definitions/entry" },
          "definitions": {
            "entry": {
              "description": "The file that answers for the URL, or an object with the file and more fields.",
              "markdownDescription": "The file that answers for the URL, or an object with the file and more fields.\n\n- `\"img/logo.png\"`: this file\n- `\"icons/\"`: all files of this folder, when the URL ends in `/`, too\n- `{ \"file\": …, \"ignoreQuery\": … }`: a file with more fields",
              "examples": ["css/site.css", "fonts/", { "file": "img/logo.png", "ignoreQuery": true }],
              "defaultSnippets": [
                { "label": "A file", "description": "The path below the manifest's folder.", "body": "${1:img/logo.png}" },
                {
                  "label": "A file, whatever the query is",
                  "description": "Answers logo.png?v=17, too.",
                  "body": { "file": "${1:img/logo.png}", "ignoreQuery": true }
                },
                {
                  "label": "A file for when the network fails",
                  "description": "The network is asked first.",
                  "body": { "file": "${1:offline/news.html}", "when": ["offline", 404, "5xx"] }
                }
              ],
              "oneOf": [{ "$ref": "#/definitions/file" }, { "$ref": "#/definitions/fields" }]
            },
            "file": {
              "description": "The path of the file below the manifest's folder, with / between folders and in the exact case of the names on disk. One that ends in / maps the whole folder to a URL that ends in /.",
              "markdownDescription": "The path of the file below the manifest's folder, with `/` between folders and in the exact case of the names on disk. One that ends in `/` maps the whole folder to a URL that ends in `/`.",
              "type": "string",
              "minLength": 1,
              "pattern": "^(\\./|(?!/)(?![A-Za-z]+://)(?!.*//)(?!(.*/)?\\.{1,2}(/|$))[^\\\\\\u0000-\\u001F\\u007F]+)$",
              "patternErrorMessage": "Write the path from the manifest's folder to the file, such as img/logo.png: with / between folders, and without / at its beginning, \\, .. or http://.",
              "errorMessage": "Write the file's name in quotation marks, such as \"img/logo.png\", or { \"file\": \"img/logo.png\" }.",
              "examples": ["css/site.css", "fonts/", "./"]
            },
            "fields": {
              "type": "object",
              "required": ["file"],
              "additionalProperties": false,
              "errorMessage": "This is not a field of an entry. The fields are \"file\", \"type\", \"headers\", \"ignoreQuery\", \"when\" and \"until\"; a comment is called \"$comment\".",
              "properties": {
                "file": { "$ref": "#/definitions/file" },
                "$comment": { "description": "Anything, for people to read." },
                "type": {
                  "description": "The media type, with parameters if any. Without it, it is inferred from the file's extension. Not for folders.",
                  "markdownDescription": "The media type, with parameters if any, such as `text/html; charset=windows-1252`. Without it, it is inferred from the file's extension. Not for folders.",
                  "type": "string",
                  "pattern": "^[!#$%&'+.^_`|~0-9A-Za-z-]+/[!#$%&'+.^_`|~0-9A-Za-z-]+([ \\t]*;[ \\t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+=([!#$%&'*+.^_`|~0-9A-Za-z-]+|\"([^\"\\\\\\u0000-\\u0008\\u000A-\\u001F\\u007F]|\\\\[^\\u0000-\\u0008\\u000A-\\u001F\\u007F])*\"))?)*[ \\t]*$",
                  "errorMessage": "A media type looks like \"image/png\" or \"text/html; charset=utf-8\".",
                  "examples": [
        \#(list(MediaType.knownEssences, indentedBy: 12))
                  ]
                },
                "headers": {
                  "description": "Response headers to add. null removes Access-Control-Allow-Origin, which is * otherwise.",
                  "markdownDescription": "Response headers to add. `null` removes `Access-Control-Allow-Origin`, which is `*` otherwise.",
                  "type": "object",
                  "errorMessage": "Write { \"Name\": \"value\" }.",
                  "propertyNames": {
                    "pattern": "^(?!(\#(reservedHeaders))$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
                    "patternErrorMessage": "This header cannot be set here: the library computes it (use \"type\" for Content-Type), or URL loading would refuse the response. A name has no spaces.",
                    "errorMessage": "This header cannot be set here: the library computes it (use \"type\" for Content-Type), or URL loading would refuse the response. A name has no spaces."
                  },
                  "properties": {
                    "$comment": { "description": "Anything, for people to read." },
        \#(commonHeaders)
                  },
                  "patternProperties": {
                    "^[Aa][Cc][Cc][Ee][Ss][Ss]-[Cc][Oo][Nn][Tt][Rr][Oo][Ll]-[Aa][Ll][Ll][Oo][Ww]-[Oo][Rr][Ii][Gg][Ii][Nn]$": {
                      "anyOf": [{ "type": "null" }, { "$ref": "#/definitions/headerValue" }]
                    }
                  },
                  "additionalProperties": { "$ref": "#/definitions/headerValue" },
                  "examples": [
                    { "Access-Control-Allow-Origin": "https://example.com" },
                    { "Access-Control-Allow-Origin": null }
                  ]
                },
                "ignoreQuery": {
                  "description": "The part of the query (after the ?) that is ignored. true: all of it. A list: parameters of these names, 100 at most; a name may end in *. false: nothing.",
                  "markdownDescription": "The part of the query (after the `?`) that is ignored:\n\n- `true`: all of it\n- `[\"v\", \"utm_*\"]`: parameters of these names, 100 at most; a name may end in `*`\n- `false`: nothing",
                  "default": false,
                  "defaultSnippets": [
                    { "label": "true", "description": "Any query matches.", "body": true },
                    { "label": "[\"v\"]", "description": "Parameters of these names are ignored.", "body": ["${1:v}"] }
                  ],
                  "oneOf": [
                    {
                      "type": "boolean",
                      "errorMessage": "Write true without quotation marks, or a list of parameter names, such as [\"v\"]."
                    },
                    {
                      "type": "array", "maxItems": 100,
                      "errorMessage": "Write true without quotation marks, or a list of at most 100 parameter names, such as [\"v\"].",
                      "items": {
                        "type": "string",
                        "pattern": "^[^&=#\\u0000-\\u0020\\u007F\\\\]+$",
                        "errorMessage": "Write the name of a parameter in quotation marks, as it stands in the URL, without = and what follows."
                      }
                    }
                  ],
                  "examples": [true, ["v", "utm_*"]]
                },
                "when": {
                  "description": "When the file answers. The network is asked first, and the file answers only if there is no connection, or if the server answers with one of these statuses. Without this field, the file always answers.",
                  "markdownDescription": "When the file answers instead of the network, which is asked first. Without this field, the file always answers.\n\n- `\"offline\"`: there is no connection\n- `404`: the server answers with this status, from 400 to 599\n- `\"4xx\"`, `\"5xx\"`: with any status of these",
                  "defaultSnippets": [
                    {
                      "label": "[\"offline\", 404, \"5xx\"]",
                      "description": "No connection, not found, or an error of the server.",
                      "body": ["offline", 404, "5xx"]
                    }
                  ],
                  "oneOf": [
                    { "$ref": "#/definitions/condition" },
                    {
                      "type": "array",
                      "minItems": 1,
                      "errorMessage": "Write \"offline\", a status such as 404, \"4xx\", \"5xx\", or a list of these, such as [\"offline\", 404].",
                      "items": { "$ref": "#/definitions/condition" }
                    }
                  ],
                  "examples": ["offline", ["offline", 404, "5xx"]]
                },
                "until": {
                  "description": "The last day (UTC) on which the entry is used.",
                  "markdownDescription": "The last day (UTC) on which the entry is used, as `YYYY-MM-DD`. After it, the URL is loaded from the network.",
                  "type": "string",
                  "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
                  "errorMessage": "Write the day as YYYY-MM-DD in quotation marks, such as \"2027-03-31\".",
                  "examples": ["2027-03-31"]
                }
              },
              "if": { "required": ["file"], "properties": { "file": { "type": "string", "pattern": "/$" } } },
              "then": {
                "properties": {
                  "type": {
                    "not": {},
                    "errorMessage": "A folder holds files of many types, so it has no \"type\"; give single files entries of their own."
                  }
                }
              }
            },
            "headerValue": {
              "type": "string",
              "pattern": "^([^\\u0000-\\u0020\\u007F]([^\\u0000-\\u0008\\u000A-\\u001F\\u007F]*[^\\u0000-\\u0020\\u007F])?)?$",
              "errorMessage": "Write the value in quotation marks, without control characters, and without a space at its ends. null removes Access-Control-Allow-Origin, and nothing else."
            },
            "condition": {
              "oneOf": [
                {
                  "type": "string",
                  "pattern": "^(offline|4xx|5xx)$",
                  "anyOf": [
                    {
                      "enum": ["offline", "4xx", "5xx"],
                      "enumDescriptions": [
                        "There is no connection to the server.",
                        "The server answers with any status from 400 to 499; also when it asks the user to sign in (401, 403).",
                        "The server reports an internal error: any status from 500 to 599."
                      ]
                    },
                    {}
                  ],
                  "errorMessage": "Write \"offline\", a status without quotation marks such as 404, \"4xx\" or \"5xx\"."
                },
                {
                  "type": "integer",
                  "minimum": 400,
                  "maximum": 599,
                  "errorMessage": "Write \"offline\", a status without quotation marks such as 404, \"4xx\" or \"5xx\"."
                }
              ]
            }
          }
        }

        """#

    /// Returns words as JSON strings, one per line.
    private static func list(_ words: [String], indentedBy columns: Int) -> String {
        words.map { String(repeating: " ", count: columns) + "\"\($0)\"" }.joined(separator: ",\n")
    }

    /// A regular expression for the names of all header fields that an entry may not set.
    ///
    /// Header names are case-insensitive. In a JSON schema, a regular expression cannot have the flag that ignores
    /// case. The expression therefore contains each letter in both cases.
    private static let reservedHeaders = ReservedHeader.names.map { name in
        name.map { $0.isLetter ? "[\($0.uppercased())\($0)]" : String($0) }.joined()
    }.joined(separator: "|")

    /// Header fields that designers often add, each with a description of its purpose.
    private static let commonHeaders = [
        ("Access-Control-Allow-Origin", "Which sites may read the file from a web page: an origin, or * for all."),
        ("Access-Control-Expose-Headers", "Which headers scripts of a web page may read."),
        ("Content-Disposition", "Whether the file is shown or saved, and under what name."),
        ("Content-Language", "The language of the text, such as en."),
        ("Content-Security-Policy", "What a page may load and run."),
        ("Cross-Origin-Resource-Policy", "Which sites may show the file."),
        ("Link", "Other files that belong to this one."),
        ("Referrer-Policy", "How much of a page's URL other servers see."),
        ("Timing-Allow-Origin", "Which sites may see how long the load took."),
        ("X-Content-Type-Options", "nosniff: browsers do not guess another type."),
    ].map { name, description in
        // The value of this header field may be null, so `patternProperties` has a separate rule for it.
        name == "Access-Control-Allow-Origin"
            ? "            \"\(name)\": { \"description\": \"\(description)\" }"
            : "            \"\(name)\": { \"description\": \"\(description)\", \"$ref\": \"#/definitions/headerValue\" }"
    }.joined(separator: ",\n")
}
