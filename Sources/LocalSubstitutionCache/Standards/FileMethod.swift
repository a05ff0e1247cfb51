/// An HTTP method (RFC 9110 §9.3) that a file can answer.
package enum FileMethod {
    case get
    case head
}
