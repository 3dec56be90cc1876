// SQLAlchemy's ORM over psycopg, in an environment of Python that is made for the run.

import Foundation

struct PythonORM {
    private let python: String
    private let script: String
    private let folder: String
    let version: String

    /// Nil if Python or its packages cannot be had.
    init?(in folder: String) {
        self.folder = folder
        python = "\(folder)/python/bin/python3"
        script = "\(folder)/orm.py"
        do {
            guard
                try PostgresCluster.run(["python3", "-m", "venv", "\(folder)/python"]) == 0,
                try PostgresCluster.run([
                    python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "sqlalchemy", "psycopg[binary]",
                ]) == 0
            else { return nil }
            try Self.program.write(toFile: script, atomically: true, encoding: .utf8)
            version = try Self.output([python, script, "version"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            return nil
        }
    }

    /// Runs a part in a process of its own.
    func measure(_ task: PostgresTask) throws -> PostgresFigures {
        let list = "\(folder)/rows-\(task.part.rawValue).tsv"
        if task.part == .load || task.part == .reload {
            let lines = Product.rows(task.rows).map { row in
                let row = task.product(row)
                return
                    "\(row.serialCode)\t\(row.name)\t\(row.price)\t\(row.quantity)\t\(row.updatedAt)\t\(row.category)\t\(row.flag ? 1 : 0)\n"
            }
            try lines.joined().write(toFile: list, atomically: true, encoding: .utf8)
        }
        let answer = try Self.output([
            python, script, task.part.rawValue, task.url, list, "\(task.objects)",
            "\(PostgresPart.changed)", "\(PostgresPart.manySaves)", "\(PostgresPart.singleSaves)",
        ])
        return try JSONDecoder().decode(PostgresFigures.self, from: Data(answer.utf8))
    }

    private static func output(_ words: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw SingleRun.Failure(description: "\(words.joined(separator: " ")) failed")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static let program = #"""
        import json, re, sys, time

        import psycopg, sqlalchemy
        from sqlalchemy import BigInteger, Boolean, Double, Integer, Text, create_engine, func, insert, select, text
        from sqlalchemy.dialects.postgresql import insert as upsert
        from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

        if sys.argv[1] == "version":
            print(f"SQLAlchemy {sqlalchemy.__version__}, psycopg {psycopg.__version__} ({psycopg.pq.__impl__}), Python {sys.version.split()[0]}")
            sys.exit()

        part, url, path = sys.argv[1:4]
        objects, changed, saves, single = map(int, sys.argv[4:8])


        class Base(DeclarativeBase):
            pass


        class Product(Base):
            __tablename__ = "products"
            __table_args__ = {"schema": "bench_orm"}
            id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
            version: Mapped[int] = mapped_column(Integer, nullable=False)
            serial_code: Mapped[str] = mapped_column(Text, unique=True)
            name: Mapped[str] = mapped_column(Text)
            price: Mapped[float] = mapped_column(Double)
            quantity: Mapped[int] = mapped_column(BigInteger)
            updated_at: Mapped[float] = mapped_column(Double)
            category: Mapped[str] = mapped_column(Text)
            flag: Mapped[bool] = mapped_column(Boolean)
            __mapper_args__ = {"version_id_col": version}


        def figure(name):
            with open("/proc/self/status") as status:
                return int(re.search(name + r":\s*(\d+)", status.read()).group(1))


        def measure(count, body):
            before = figure("VmRSS")
            try:
                with open("/proc/self/clear_refs", "w") as refs:
                    refs.write("5")
            except OSError:
                pass
            start = time.perf_counter()
            body()
            seconds = time.perf_counter() - start
            print(json.dumps({"seconds": seconds, "count": count, "peakKiB": max(0, figure("VmHWM") - before)}))


        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
        columns = ["serial_code", "name", "price", "quantity", "updated_at", "category", "flag"]


        def rows():
            result = []
            with open(path) as lines:
                for line in lines:
                    code, name, price, quantity, at, category, flag = line.rstrip("\n").split("\t")
                    result.append((code, name, float(price), int(quantity), float(at), category, flag == "1"))
            return result


        if part == "load":
            with engine.begin() as connection:
                connection.execute(text("DROP SCHEMA IF EXISTS bench_orm CASCADE"))
                connection.execute(text("CREATE SCHEMA bench_orm"))
            Base.metadata.create_all(engine)

        if part in ("load", "reload"):
            given = rows()

            def load():
                with Session(engine) as session:
                    for start in range(0, len(given), 10000):
                        piece = [dict(zip(columns, row), version=1) for row in given[start : start + 10000]]
                        if part == "load":
                            session.execute(insert(Product), piece)
                        else:
                            statement = upsert(Product)
                            new = {name: statement.excluded[name] for name in columns[1:]}
                            new["version"] = Product.version + 1
                            session.execute(
                                statement.on_conflict_do_update(index_elements=["serial_code"], set_=new), piece
                            )
                    session.commit()

            measure(len(given), load)
        elif part == "fetch":
            with Session(engine) as session:

                def fetch():
                    sum = 0
                    for product in session.scalars(select(Product).order_by(Product.id).limit(objects)):
                        sum += len(product.serial_code) + len(product.name) + len(product.category)
                        sum += product.price + product.quantity + product.updated_at + product.flag

                measure(objects, fetch)
        else:
            count, times = (changed, saves) if part == "saves" else (1, single)
            with Session(engine, expire_on_commit=False) as session:
                known = session.scalars(select(Product).order_by(Product.id).limit(max(count, 1000))).all()
                session.commit()

                def save():
                    place = 0
                    for _ in range(times):
                        for _ in range(count):
                            product = known[place % len(known)]
                            product.quantity += 1
                            product.price += 0.25
                            place += 1
                        session.commit()

                measure(times, save)
        """#
}
