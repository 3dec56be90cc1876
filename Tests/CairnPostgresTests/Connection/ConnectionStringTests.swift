import CairnStore
import Testing

@testable import CairnPostgres

@Suite("Connection strings")
struct ConnectionStringTests {
    struct Form: Sendable {
        let text: String
        let schema: String
        let hosts: [String]
        let options: [String: String]

        init(
            _ text: String, schema: String = "cairn", hosts: [String],
            _ options: [String: String]
        ) {
            self.text = text
            self.schema = schema
            self.hosts = hosts
            self.options = options
        }
    }

    static let forms = [
        Form("postgresql://db1/shop", hosts: ["db1"], ["dbname": "shop"]),
        Form(
            "postgres://me:secret@db1:5433/shop", hosts: ["db1:5433"],
            ["dbname": "shop", "user": "me", "password": "secret"]),
        Form(
            "postgresql://db1,db2:5433,[::1]:5434/shop?target_session_attrs=read-write",
            hosts: ["db1", "db2:5433", "[::1]:5434"], ["target_session_attrs": "read-write"]),
        Form("postgresql://db1/shop?cairn_schema=other", schema: "other", hosts: ["db1"], [:]),
        Form(
            "postgresql://db1/shop?cairn_schema=my%20own&sslmode=require", schema: "my own",
            hosts: ["db1"], ["sslmode": "require"]),
        Form(
            "postgresql://db1/shop?sslmode=require&%63airn_schema=x", schema: "x", hosts: ["db1"],
            ["sslmode": "require"]),
        Form(
            "postgresql://me:a?cairn_schema=no&b@db1/shop", hosts: ["db1"],
            ["password": "a?cairn_schema=no&b"]),
        Form(
            "host=db1 dbname=shop cairn_schema=other", schema: "other", hosts: ["db1"],
            ["dbname": "shop"]),
        Form(
            #"host=db1 password='it\'s cairn_schema=no' cairn_schema = 'a b'"#, schema: "a b",
            hosts: ["db1"], ["password": "it's cairn_schema=no"]),
        Form("host=/run/postgresql port=5433", hosts: ["%2Frun%2Fpostgresql:5433"], [:]),
        Form("host=a,b port=1", hosts: ["a:1", "b:1"], [:]),
        Form("host=a,b hostaddr=10.0.0.1,10.0.0.2", hosts: ["a", "b"], [:]),
    ]

    @Test("are read as libpq reads them, our own options taken out", arguments: forms)
    func isRead(_ form: Form) throws {
        let string = try ConnectionString(form.text)
        #expect(string.schema == form.schema)
        #expect(string.hosts.map(\.description) == form.hosts)
        for (name, value) in form.options { #expect(string.options[name] == value) }
        #expect(string.options["cairn_schema"] == nil)
    }

    @Test("get our defaults only where the user says nothing")
    func defaults() throws {
        let plain = try ConnectionString("postgresql://db1/shop").options
        #expect(plain["fallback_application_name"] == "cairn")
        #expect(plain["application_name"] == nil)
        #expect(plain["connect_timeout"] == "10")
        #expect(plain["keepalives_idle"] == "30")
        #expect(plain["client_encoding"] == "UTF8")
        let own = try ConnectionString(
            "host=db1 application_name=till connect_timeout=3 keepalives_idle=7 client_encoding=utf-8"
        ).options
        #expect(own["application_name"] == "till")
        #expect(own["connect_timeout"] == "3")
        #expect(own["keepalives_idle"] == "7")
    }

    @Test("say how many statements are prepared")
    func prepared() throws {
        #expect(try ConnectionString("host=a").preparedStatementLimit == 256)
        #expect(
            try ConnectionString("host=a cairn_prepared_statements=0").preparedStatementLimit == 0)
        #expect(throws: SQLFailure.self) {
            try ConnectionString("host=a cairn_prepared_statements=many")
        }
    }

    /// The word is the secret; none of the errors may have it.
    static let broken = [
        "postgresql://me:geheim@db1/shop?sslmod=geheim",
        "postgresql://me:geheim@db1/shop?password=geheim=geheim",
        "postgresql://me:geheim@db1/shop?geheim",
        "postgresql://me:%geheim@db1/shop",
        "postgresql://me:geheim%00@db1/shop",
        "postgresql://me:geheim@[::1/shop",
        "postgresql://me:geheim@[]/shop",
        "postgresql://me:geheim@[::1]geheim/shop",
        "postgresql://me:geheim@db1/shop?password=geheim&cairn_geheim=1",
        "postgresql://me:geheim@db1/shop?cairn_schema=",
        "postgresql://me:geheim@db1/shop?cairn_schema=pg_geheim",
        "postgresql://me:geheim@a,b/shop?port=1,2,3",
        "postgresql://me:geheim@db1/shop?client_encoding=geheim",
        "host=db1 password=zwei geheim",
        "host=db1 password='geheim",
        "host=db1 passwort=geheim",
        "host=db1 cairn_schema = 'it''s geheim'",
        "host=db1 password=geheim cairn_geheim=geheim",
        "host=a,b hostaddr=10.0.0.1 password=geheim",
        "geheim",
    ]

    @Test("that are wrong are told without what stands in them", arguments: broken)
    func tellsNoSecret(_ text: String) {
        let error = failure { _ = try ConnectionString(text) }
        guard let error else {
            Issue.record("it was read")
            return
        }
        let store = StoreError(error)
        #expect(store.code == .openFailed)
        for words in ["\(error)", "\(store)", store.fullDescription, "\(store.userInfo)"] {
            #expect(!words.contains("geheim"))
            #expect(!words.contains("zwei"))
        }
    }

    @Test(
        "show no secret",
        arguments: [
            "postgresql://me:geheim@db1,db2:5433/shop?sslpassword=geheim&sslmode=require",
            "postgresql://db1/shop?password=geheim&user=me",
            "host=db1,db2 dbname=shop user=me password='geheim' options='-c geheim=1'",
            "host=/run/x dbname=shop user='a geheimnis' passfile=/home/geheim",
        ])
    func showsNoSecret(_ text: String) throws {
        let string = try ConnectionString(text)
        #expect(!"\(string)".replacing("geheimnis", with: "").contains("geheim"))
        #expect("\(string)".contains("/shop"))
        #expect(!string.redacted("libpq says geheim").contains("geheim") || text.contains("nis"))
    }

    @Test("can be read again from what is shown")
    func isReadable() throws {
        let text = "postgresql://a%20b@db1:1,[::1]:2/my%20shop?sslmode=require&cairn_schema=x%2Fy"
        let shown = try ConnectionString(text).description
        let again = try ConnectionString(shown)
        #expect(again.description == shown)
        #expect(again.schema == "x/y")
        #expect(again.options["user"] == "a b")
        #expect(again.options["dbname"] == "my shop")
    }
}
