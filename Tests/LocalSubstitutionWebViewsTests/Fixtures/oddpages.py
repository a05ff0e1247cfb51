"""Writes odd pages, and what html5lib finds in each.

usage: python3 oddpages.py COUNT SEED
Prints a line of JSON for each page: the page; [element, attribute, value] for each address of a start tag in the order of
the page; the number with which each base address begins; the text of each style element, sorted; and the kinds of
misnesting that the page scanner does not follow.
"""
import json
import random
import re
import sys
import types

import html5lib
from html5lib import _tokenizer, html5parser
from html5lib.constants import namespaces, tokenTypes
from html5lib.treebuilders import base

ADDRESSES = {"src", "href", "xlink:href", "poster", "action", "formaction", "background", "data", "srcset", "imagesrcset", "style"}
TEXTS = {tokenTypes["Characters"], tokenTypes["SpaceCharacters"]}
HTML, SVG, MATH = namespaces["html"], namespaces["svg"], namespaces["mathml"]
# The elements that the page scanner tracks, and the language to which they belong.
TRACKED = {name: SVG for name in ("svg", "foreignobject", "desc", "title")} | {
    name: MATH for name in ("math", "mi", "mo", "mn", "ms", "mtext", "annotation-xml")
}


def holds_html(parser, node):
    return node.namespace == HTML or parser.isHTMLIntegrationPoint(node) or parser.isMathMLTextIntegrationPoint(node)


def is_tracked(parser, node):
    """True for the elements that the page scanner tracks."""
    if node.namespace == HTML:
        return node.name == "template"
    return node.name in ("svg", "math") or holds_html(parser, node)


def misnesting(parser, kind, name, before, after):
    """Yields the kinds of misnesting at a token, each with its shortest example; a page without any is read alike.

    `before` and `after` are the open elements, and `name` is the data of a comment.
    """
    if kind == tokenTypes["Comment"] and name.startswith("[CDATA[") and any(node.namespace != HTML for node in before):
        yield "a CDATA section in HTML in SVG: <svg><desc><b><![CDATA[><img src=a>]]>"
    if kind not in (tokenTypes["StartTag"], tokenTypes["EndTag"]) or not before:
        return
    current = before[-1]
    is_foreign = not holds_html(parser, current)
    is_breakout = is_foreign and name in PHASES["inForeignContent"].breakoutElements
    tracked = [node for node in before if is_tracked(parser, node)]
    closed = [node for node in tracked if node not in after]
    if (kind, name) != (tokenTypes["EndTag"], "style") and any(node.nameTuple == (SVG, "style") for node in before):
        yield "a tag in the style of SVG: <svg><style><g>b{c:url(a)}</g></style>"
    if kind == tokenTypes["EndTag"]:
        if closed and closed[0].name.lower() != name and not is_breakout:
            yield "SVG that ends with an element around it: <button><svg></button><title><img src=a></title>"
        if not closed and is_breakout:
            yield "an end tag without its element in SVG: <svg></div><title><img src=a></title>"
        if not closed and any(node.name.lower() == name for node in tracked):
            yield "the end of SVG in its HTML: <svg><g><desc><p></desc><title><img src=a></title>"
        return
    if "Frameset" in type(parser.phase).__name__:
        yield "a tag that a frameset ignores: <frameset><title><img src=a></title>"
    if closed and not is_breakout:
        yield "SVG that ends at a start tag outside it: <svg><font size=1><title><img src=a></title>"
    if is_foreign and TRACKED.get(name, current.namespace) != current.namespace:
        yield "SVG in MathML, or the reverse: <math><svg><desc><style><img src=a></style>"
    if name in ("mglyph", "malignmark") and parser.isMathMLTextIntegrationPoint(current):
        yield "a sign in MathML that holds elements: <math><mi><mglyph><style><img src=a></style>"


class RecordingTokenizer(_tokenizer.HTMLTokenizer):
    """Tells what it emits, before the tree construction changes or ignores it."""

    def __iter__(self):
        self.found, self.bases, self.styles, self.misnesting = [], [], {}, set()
        for token in super().__iter__():
            before = list(self.parser.tree.openElements)
            if token["type"] == tokenTypes["StartTag"]:
                self.found += [[token["name"], name, value] for name, value in token["data"].items() if name in ADDRESSES]
                is_in_html = not before or holds_html(self.parser, before[-1])
                if token["name"] == "base" and is_in_html and not any(node.nameTuple == (HTML, "template") for node in before):
                    self.bases += re.findall("^[0-9]+", token["data"].get("href", ""))
            elif token["type"] in TEXTS and before:
                node = before[-1]
                if node.name == "style" and node.namespace in (HTML, SVG):
                    self.styles[id(node)] = self.styles.get(id(node), "") + token["data"]
            kind, name = token["type"], token.get("name") or token.get("data")
            yield token
            self.misnesting.update(misnesting(self.parser, kind, name, before, self.parser.tree.openElements))

    def commentStartState(self):
        """§13.2.5.43: after anything but "-" and ">" the beginning of a comment is over."""
        goes_on = super().commentStartState()
        if self.state == self.commentStartState:
            self.state = self.commentState
        return goes_on


html5parser._tokenizer = types.SimpleNamespace(HTMLTokenizer=RecordingTokenizer)


# html5lib is older than the standard. What differs is mended here, with the section that says so. Pages have none of the
# other elements that it reads by old rules (rb, rtc) or does not know (dialog, search).
# §13.2.4.2, the special category and scopes. Of the rules for a template, only the scope and the end are here.
html5parser.specialElements |= {
    (HTML, name) for name in ("figcaption", "hgroup", "keygen", "main", "source", "summary", "template", "track")
} | {
    (MATH, name) for name in ("mi", "mo", "mn", "ms", "mtext", "annotation-xml")
} | {(SVG, name) for name in ("desc", "title")}
for variant in (None, "button", "list", "table"):
    names, is_inverted = base.listElementsMap[variant]
    base.listElementsMap[variant] = (names | {(HTML, "template")}, is_inverted)


def end_in_foreign_content(phase, token, original):
    """§13.2.6.5: the end tags "br" and "p" end what is foreign."""
    if token["name"] not in ("br", "p"):
        return original(phase, token)
    elements, parser = phase.tree.openElements, phase.parser
    while not (elements[-1].namespace == HTML or parser.isHTMLIntegrationPoint(elements[-1])
               or parser.isMathMLTextIntegrationPoint(elements[-1])):
        elements.pop()
    return parser.phase.processEndTag(token)


def other_end_in_body(phase, token):
    """§13.2.6.4.7, "any other end tag": only an element of HTML is closed."""
    for node in phase.tree.openElements[::-1]:
        if node.name == token["name"] and node.namespace == HTML:
            phase.tree.generateImpliedEndTags(exclude=token["name"])
            while phase.tree.openElements.pop() != node:
                pass
            break
        if node.nameTuple in html5parser.specialElements:
            break


def end_in_body(phase, token, original):
    """§13.2.6.4.7: the end tag "br" is treated as a start tag."""
    if token["name"] == "br":
        phase.parser.framesetOK = False
    return original(phase, token)


def mend(phase, name, function):
    original = getattr(phase, name)
    setattr(phase, name, lambda self, token: function(self, token, original))


PHASES = html5parser.getPhases(False)
mend(PHASES["inForeignContent"], "processEndTag", end_in_foreign_content)
mend(PHASES["inBody"], "processEndTag", end_in_body)
IN_BODY = PHASES["inBody"]
STARTS, ENDS = vars(IN_BODY)["startTagHandler"], vars(IN_BODY)["endTagHandler"]
IN_BODY.endTagOther = ENDS.default = other_end_in_body
ENDS["template"] = IN_BODY.endTagBlock
# A select may contain any element.
STARTS["select"] = IN_BODY.startTagOther
PHASES["inSelect"] = PHASES["inSelectInTable"] = IN_BODY


def read(page):
    parser = html5lib.HTMLParser()
    parser.parse(page, scripting=True)
    return parser.tokenizer


class Pages:
    """Random pages that keep to no grammar for long."""

    FORMATTING = ["b", "i", "a", "font", "nobr", "code"]
    BLOCKS = ["div", "p", "ul", "li", "dd", "dt", "dl", "h1", "h2", "pre", "center", "section", "form", "address", "main"]
    INLINE = ["span", "button", "object", "marquee", "ruby", "rp", "rt", "label", "x-y", "option", "optgroup", "ins"]
    INLINE += ["select", "template"]
    TABLE = ["table", "caption", "colgroup", "col", "tbody", "thead", "tfoot", "tr", "td", "th"]
    VOID = ["img", "br", "hr", "input", "link", "meta", "base", "embed", "area", "source", "param", "image", "wbr"]
    TEXT = ["title", "textarea", "style", "script", "xmp", "iframe", "noembed", "noframes", "noscript"]
    FOREIGN = ["svg", "math", "foreignObject", "desc", "mi", "mtext", "annotation-xml", "mglyph", "malignmark", "use", "g", "mrow"]
    NESTED = {
        "html": ["div", "section", "b", "table", "select", "template", "title", "style", "svg", "svg", "svg", "math"],
        "svg": ["g", "a", "svg", "title", "desc", "foreignObject", "style", "style", "script", "textarea"],
        "math": ["mrow", "mi", "mtext", "title", "style", "semantics"],
    }
    OUTER = ["html", "head", "body", "frameset", "frame"]
    DOCTYPES = [
        "<!doctype html>", "<!DOCTYPE HTML>", "<!doctype>", "<!doctype svg>",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">',
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">',
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN" "http://www.w3.org/MarkUp/DTD/xhtml-rdfa-1.dtd">',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML Basic 1.1//EN" "http://www.w3.org/TR/xhtml-basic/xhtml-basic11.dtd">',
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0//EN">', "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.0 Transitional//EN'>",
        '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN" "frameset.dtd">', "<!DOCTYPE html PUBLIC>",
        '<!DOCTYPE html SYSTEM "about:legacy-compat">', "<!DOCTYPE html SYSTEM>", "<!DOCTYPE html public 'html'>",
        '<!DOCTYPE html SYSTEM "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd">', "<!DOCTYPE html other>",
    ]
    PLAIN = [
        "text", " ", "\n", "\r\n", "\t", "a < b", "<", "</", "<!", "<?", "&", "&amp;", "&lt", "&#x20;", "&#65;", "&nope;",
        "\0", "]]>", "-->", "<3", "< img src=x>", "&#10", "--!>", "<!-", "</>", "&Tab;", "\f", "é",
    ]
    VALUES = [
        "u", "a/b.png", "https://h/m", "&amp;", "&#x2F;", "&#58;", "&colon;", "&lt", "&amp=", "&quot;", "\t", "\r\n", "'", '"',
        ">", "<", "/", " ", "=", "`", "\\", "&#0;", "&#x80;", "&#xD800;", "&#99999999;", "&gt;x", "&ltx", "\0", "é", "&#x1F600;",
    ]
    COMMENTS = [
        "<!--%s-->", "<!--%s--!>", "<!--%s>", "<!-->%s", "<!--->%s", "<!--%s--", "<!--%s", "<!%s>", "<?%s>", "</ %s>", "</?%s>",
        "<![CDATA[%s]]>", "<![cdata[%s]]>", "<!doctype %s>", "<!-%s->", "<!----!>%s-->", "<!--<!--%s-->", "<![CDATA[%s",
    ]

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0

    def page(self):
        self.number = 0
        start = self.random.choice(self.DOCTYPES) if self.random.random() < 0.6 else ""
        return start + "".join(self.piece() for _ in range(self.random.randint(3, 40)))

    def piece(self):
        kind = self.random.random()
        if kind < 0.45:
            return self.start()
        if kind < 0.50:
            self.number += 1
            return self.random.choice(["<img src=%d>", "<img src=%d>", "<base href=%d>"]) % self.number
        if kind < 0.75:
            return "</%s%s>" % (self.cased(self.name()), self.random.choice(["", "", "", " ", "/", ' title="<img src=no>"', " a=b"]))
        if kind < 0.87:
            return self.random.choice(self.PLAIN)
        if kind < 0.94:
            return self.random.choice(self.COMMENTS) % self.content()
        return self.element() if kind < 0.98 else self.nested()

    def nested(self, language="html", depth=0):
        """Elements that are closed in order, in HTML, SVG and MathML."""
        name = self.random.choice(self.NESTED[language])
        holds_html = name in ("foreignObject", "desc", "mi", "mtext") or name == "title" and language == "svg"
        inner = name if name in ("svg", "math") else "html" if holds_html else language
        choices = [lambda: self.start(self.random.choice(self.VOID)), lambda: self.random.choice(self.PLAIN)]
        choices += [lambda: "<image href=%d />" % depth, lambda: self.random.choice(self.COMMENTS[:12]) % "a{b:url(c)}"]
        choices += [lambda: self.nested(inner, depth + 1)] * (4 if depth < 4 else 0)
        content = "".join(self.random.choice(choices)() for _ in range(self.random.randint(0, 4)))
        return "%s%s</%s>" % (self.start(name), content, name)

    def name(self, texts=3):
        kinds = [self.FORMATTING, self.BLOCKS, self.INLINE, self.TABLE, self.VOID, self.TEXT, self.FOREIGN, self.OUTER]
        weights = [3, 3, 2, 4, 2, texts, 6, 0.4]
        return self.random.choice(self.random.choices(kinds, weights)[0])

    def cased(self, name):
        return name.upper() if self.random.random() < 0.1 else name

    def content(self):
        choices = [lambda: self.start(self.random.choice(self.VOID)), lambda: "x", lambda: self.random.choice(self.PLAIN)]
        return "".join(self.random.choice(choices)() for _ in range(self.random.randint(0, 3)))

    def element(self):
        """An element that holds text in HTML, closed or not."""
        name = self.random.choice(self.TEXT)
        content = self.content()
        if name == "script" and self.random.random() < 0.7:
            parts = ["<!--", "-->", "<script>", "</script>", "<script ", "</script", "--", ">", "<!-", "x", "<img src=no>", "</SCRIPT>"]
            content = "".join(self.random.choice(parts) for _ in range(self.random.randint(1, 8)))
        end = self.random.choice(["</%s>", "</%s >", "</%s/>", "</%sx>", "</%s", "", "</%s a='>'>", "</ %s>"])
        return self.start(name) + content + (end % self.cased(name) if "%" in end else end)

    def start(self, name=None):
        name = name or self.name(texts=1)
        tag = "<" + self.cased(name)
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2])):
            tag += self.random.choice([" ", " ", " ", "\n", "/", "\t", " / "]) + self.attribute(name)
        return tag + self.random.choice([">"] * 40 + ["/>"] * 5 + [" />", "/ >", " ", ""])

    def attribute(self, name):
        if name == "font" and self.random.random() < 0.5:
            return self.random.choice(["color=red", "size", "face=''"])
        if name == "annotation-xml" and self.random.random() < 0.7:
            return self.random.choice(["encoding=text/html", "encoding='application/XHTML+xml'", "encoding=text/xml"])
        if name == "input" and self.random.random() < 0.5:
            return self.random.choice(["type=hidden", "type=HIDDEN", "type=text"])
        self.number += 1
        key = self.cased(self.random.choice(sorted(ADDRESSES) + ["src", "href", "id", "a", "=b", "integrity", "on\0x", 'q"']))
        value = str(self.number) + "".join(self.random.choice(self.VALUES) for _ in range(self.random.choice([0, 1, 1, 2, 4])))
        kind = self.random.random()
        if kind < 0.4:
            return '%s="%s"' % (key, value.replace('"', ""))
        if kind < 0.6:
            return "%s = '%s'" % (key, value.replace("'", ""))
        if kind < 0.9:
            return "%s=%s" % (key, value)
        return key if kind < 0.95 else key + "="


def main():
    pages = Pages(int(sys.argv[2]))
    for _ in range(int(sys.argv[1])):
        page = pages.page()
        try:
            result = read(page)
        except AssertionError:
            # html5lib gives up.
            continue
        styles = sorted(style for style in result.styles.values() if style)
        lists = {"found": result.found, "bases": result.bases, "styles": styles, "misnesting": sorted(result.misnesting)}
        print(json.dumps({"page": page} | lists))


if __name__ == "__main__":
    main()
