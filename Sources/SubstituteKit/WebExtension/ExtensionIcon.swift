import Foundation

/// The extension's icon in the browser's toolbar: an arrow into a box, 128 × 128 pixels.
enum ExtensionIcon {
    static let png = Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()

    private static let text = """
        iVBORw0KGgoAAAANSUhEUgAAAIAAAACABAMAAAAxEHz4AAAAHlBMVEUAAAAdX78dX78dX78dX78dX79Kf8x3n9nS3/L///+Js04o
        AAAACnRSTlMAM2aZzP//////ej1HDAAAAktJREFUeNrtmc1SwjAQx1H0zqDeYdQ7I/bux/Su0lBegFEeADt5AJzhBUr7thLaQtts
        kk0WRw75H2AK7I/Nbtrs7HY6Xqems9vHkGkVvT701PZXBuuSMVTZ3zGkXmD7a4bWM9EeJJwzKw0kQGAHmLTtL5ilnlobILQFRD2a
        A20XAnvAhJACORE3LoD3GiB0AUTEFTDWo+SgmYd7N8DHHsActd+Gmt98fiOC0FX/5CvPf9TfjowxnOZbzY1RVG+jmQCsjFtJnYSF
        AKTGNKjvJC4AG+P9FLoComMB2L8BmAd4gAd4gBkwTeZNQPkBFjBd59m8Dqg+wAIWpd0ewOHzQQlYC8PlARCL9wwP2B2JwpDX34FD
        UgXY/aFwoQTsry0BmwrAbQHFErYWBaDkWSyhCOLWlB9erYJYHOtb7UBZeWGTxsrphpY2W5nL9hureyFGOaC7GznGAR0gxjigfR5w
        hANaQIxwQP9E4mYHYEBVHceAA+3KGQIcqmMuOSBVzgCgVh3HbQfkyhkA1Ktj3nJArpwBQL06jlsRkCtnANA4CXgzBfIpYQK0HmX2
        AO0VChA3NqEDQMQtZRQASxJGA+i/8wAP0AGyBNQaDdDJA/4IEALVkVKpoQExMwFWACAASkSl5kAPJWD4NaRQE6bZBkq0AttATv1M
        oTdaO/HQCuu6AkaIdiCuJ0ptSNJbope0JDi3hQfHa0y7BeGjBuhSdoHrGqLjDijIIxLykIY+JqIPqsijMvqwjj4u7HT6qEhOBpqZ
        aX9sGpmOh36yfHr6BT/gZyiuDb+aAAAAAElFTkSuQmCC
        """
}
