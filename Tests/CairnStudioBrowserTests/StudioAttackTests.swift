// A page of another server that wants something of the studio, in the browser that the studio has let in.

import CairnTestSupport
import Foundation
import Testing

@Suite(
    "Attacks on the studio by other pages",
    .enabled(if: BrowserProgram.installed != nil && StudioProcess.tool != nil), .serialized, .ahead)
struct StudioAttackTests {
    /// Tries all ways in which a page can reach another server, and says which gave it something.
    private static func page(against origin: String) -> String {
        """
        <!doctype html><title>attack</title><script type="module">
        const studio = \(BrowserPage.quoted(origin));
        const got = [];
        const attempt = async (name, body) => { try { if (await body()) got.push(name); } catch {} };
        const element = (tag, attributes) => new Promise((resolve) => {
          const one = Object.assign(document.createElement(tag), attributes);
          one.onload = () => resolve(tag === "iframe" ? one : true);
          one.onerror = () => resolve(false);
          document.body.append(one);
        });
        const readable = async (response) => response.type !== "opaque" && (await response.text()).length > 0;
        await attempt("fetch", async () => readable(await fetch(studio + "/api/store", { credentials: "include" })));
        await attempt("no-cors", async () => readable(await fetch(studio + "/api/store", { credentials: "include", mode: "no-cors" })));
        const change = JSON.stringify({ changes: [{ change: "insert", entity: "Item", values: { name: "planted" }, name: "new1" }] });
        await attempt("post", async () => readable(await fetch(studio + "/api/save", { method: "POST", credentials: "include", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body: change })));
        await attempt("post with headers", async () => readable(await fetch(studio + "/api/save", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json", "X-Cairn-Studio": "1" }, body: change })));
        await attempt("import", async () => readable(await fetch(studio + "/api/import?entity=Item", { method: "POST", credentials: "include", mode: "no-cors", body: "name\\nplanted\\n" })));
        await attempt("image", () => element("img", { src: studio + "/icon.svg" }));
        await attempt("script", () => element("script", { src: studio + "/scripts/frame/main.js" }));
        await attempt("module", async () => Boolean(await import(studio + "/scripts/app/format.js")));
        await attempt("frame", async () => (await element("iframe", { src: studio + "/" })).contentDocument?.body.innerText.includes("Cairn"));
        const form = document.createElement("form");
        Object.assign(form, { method: "POST", action: studio + "/api/save", enctype: "text/plain", target: "framed" });
        form.append(Object.assign(document.createElement("input"), { name: change, value: "" }));
        const framed = Object.assign(document.createElement("iframe"), { name: "framed" });
        document.body.append(framed, form);
        form.submit();
        await new Promise((resolve) => { framed.onload = resolve; });
        document.body.dataset.got = JSON.stringify(got);
        document.body.dataset.state = "over";
        </script>
        """
    }

    /// Serves a folder at a free port of this machine, and prints the address.
    private static let server = """
        import functools, http.server, sys
        kind = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
        print("http://%s:%d" % (sys.argv[2], server.server_address[1]), flush=True)
        server.serve_forever()
        """

    @Test(
        "A page of another port, or of another name of this machine, gets nothing and changes nothing",
        arguments: ["127.0.0.1", "localhost"])
    func otherOrigin(_ name: String) async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path, canWrite: true)
        try store.write("index.html", Self.page(against: studio.origin))
        let attacker = try ServingProcess([
            "/usr/bin/env", "python3", "-c", Self.server, store.folder.path, name,
        ])
        let before = try StudioProcess.cairn("info", store.path, "--json")
        try await Browser.with { page in
            // The browser has been let in, and so has a cookie for the studio.
            try await page.enter(studio)
            try await page.until("document.querySelector('.badge').innerText === 'writable'")
            let known = page.browser.journal.statuses(from: studio.origin).count
            try await page.open(attacker.firstLine + "/index.html")
            try await page.until("document.body?.dataset.state === 'over'")
            #expect(try await page.evaluate("document.body.dataset.got") == "[]")
            let answers = page.browser.journal.statuses(from: studio.origin).dropFirst(known)
            #expect(!answers.isEmpty)
            #expect(answers.allSatisfy { $0 == 403 }, "\(answers)")
            // What the browser says of the attack is not the studio's page's.
            page.browser.journal.forget()
        }
        struct Information: Decodable {
            let commit: Int
        }
        let commits = try [before, StudioProcess.cairn("info", store.path, "--json")].map {
            try JSONDecoder().decode(Information.self, from: Data($0.utf8)).commit
        }
        #expect(commits[0] == commits[1])
    }

    @Test(
        "A browser that was not let in gets a page in plain words, also with a token that is spent")
    func stranger() async throws {
        let store = try StudioStore.shops()
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.open(studio.origin + "/")
            try await page.untilWords("This browser has not been let in")
        }
        try await Browser.with { page in try await page.enter(studio) }
        try await Browser.with { page in
            try await page.open(studio.address)
            try await page.untilWords("This address has let a browser in already")
        }
    }

    @Test("Values that look like markup are shown as they are")
    func markup() async throws {
        let store = try StudioStore.shops()
        let trap = "<img src=x onerror=document.title='caught'>"
        try store.write("trap.csv", "name,price\n\(trap),1\n")
        try store.run("import", "trap.csv", ["--entity", "Item"])
        let studio = try StudioProcess(store.path)
        try await Browser.with { page in
            try await page.enter(studio)
            try await page.show("#/browse/Item?where=name CONTAINS '<'")
            try await page.untilTable(of: 1)
            #expect(try await page.cells(of: "name") == [trap])
            try await page.press("Enter")
            try await page.until("location.hash.includes('/object/')")
            try await page.settled()
            #expect(try await page.words("h1") == trap)
            #expect(try await page.evaluate("document.querySelectorAll('main img').length") == 0)
            try await page.show("#/search?text=<img")
            #expect(try await page.allWords(".places").first?.contains(trap) == true)
            #expect(try await page.evaluate("document.title") != "caught")
        }
    }
}
