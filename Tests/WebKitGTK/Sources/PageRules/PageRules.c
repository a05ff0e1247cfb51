// Does in a page's process what a web extension's rules do on Apple's systems: leads requests to a scheme of the app, after
// content policy and mixed content were judged by the original URL.

#include <webkit2/webkit-web-extension.h>

#define PREFIX "substitution-"

static GPtrArray *rules;

static gboolean is_substituted(const char *uri)
{
    for (guint index = 0; index < rules->len; index++) {
        if (g_regex_match(g_ptr_array_index(rules, index), uri, 0, NULL))
            return TRUE;
    }
    return FALSE;
}

// Rules exclude documents and frames.
static gboolean is_document(WebKitURIRequest *request)
{
    SoupMessageHeaders *headers = webkit_uri_request_get_http_headers(request);
    const char *accepted = headers ? soup_message_headers_get_one(headers, "Accept") : NULL;
    return accepted && g_str_has_prefix(accepted, "text/html");
}

static gboolean send_request(WebKitWebPage *page, WebKitURIRequest *request, WebKitURIResponse *redirected, gpointer data)
{
    const char *uri = webkit_uri_request_get_uri(request);
    const char *page_uri = webkit_web_page_get_uri(page);
    if (!uri || !page_uri || g_str_has_prefix(page_uri, PREFIX) || is_document(request))
        return FALSE;
    if (is_substituted(uri)) {
        g_autofree char *mirror = g_strconcat(PREFIX, uri, NULL);
        webkit_uri_request_set_uri(request, mirror);
    } else if (g_str_has_prefix(uri, PREFIX)) {
        // GTK does not let an answer have the original's URL, so relative references of what was substituted come as mirrors.
        g_autofree char *original = g_strdup(uri + strlen(PREFIX));
        if (!is_substituted(original))
            webkit_uri_request_set_uri(request, original);
    }
    return FALSE;
}

static void page_created(WebKitWebExtension *extension, WebKitWebPage *page, gpointer data)
{
    g_signal_connect(page, "send-request", G_CALLBACK(send_request), NULL);
}

G_MODULE_EXPORT void webkit_web_extension_initialize_with_user_data(WebKitWebExtension *extension, GVariant *expressions)
{
    rules = g_ptr_array_new();
    GVariantIter iterator;
    const char *expression;
    g_variant_iter_init(&iterator, expressions);
    while (g_variant_iter_next(&iterator, "&s", &expression)) {
        GRegex *rule = g_regex_new(expression, G_REGEX_OPTIMIZE, 0, NULL);
        if (rule)
            g_ptr_array_add(rules, rule);
    }
    g_signal_connect(extension, "page-created", G_CALLBACK(page_created), NULL);
}
