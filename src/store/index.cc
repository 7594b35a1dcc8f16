#include "store/index.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <mutex>

#include "base/error.h"
#include "base/hash.h"
#include "sys/files.h"

// The files are authoritative, so SQLite need not be durable: with synchronous=OFF a write costs 20 µs instead of a
// disk sync, and an index damaged by a power failure is rebuilt. WAL lets readers continue during a write. Statements
// are prepared once: a plan of 1,000 steps runs thousands of queries in its 0.2 s.

namespace wheelsmith::store {

namespace {

constexpr int k_schema = 2;
constexpr int k_busy_milliseconds = 2000;

constexpr const char* k_tables =
    "CREATE TABLE IF NOT EXISTS memo(kind BLOB, subject BLOB, fingerprint BLOB, facts BLOB, digest BLOB,"
    " PRIMARY KEY(kind, subject)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS steps(key BLOB PRIMARY KEY, identity BLOB, wheel BLOB, finished INTEGER) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS steps_by_identity ON steps(identity, finished);"
    "CREATE TABLE IF NOT EXISTS state(name BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;";

enum class Sql { remembered, remember, memos, rows, newest, add, remove, state, set_state, begin, commit, check };
constexpr std::array<const char*, 12> k_sql = {
    "SELECT facts, digest FROM memo WHERE kind = ?1 AND subject = ?2 AND fingerprint = ?3",
    "REPLACE INTO memo(kind, subject, fingerprint, facts, digest) VALUES(?1, ?2, ?3, ?4, ?5)",
    "SELECT kind, subject, fingerprint, facts, digest FROM memo",
    "SELECT key, identity, wheel, finished FROM steps",
    "SELECT key FROM steps WHERE identity = ?1 ORDER BY finished DESC, key",
    "REPLACE INTO steps(key, identity, wheel, finished) VALUES(?1, ?2, ?3, ?4)",
    "DELETE FROM steps WHERE key = ?1",
    "SELECT value FROM state WHERE name = x'7374657073'",
    "REPLACE INTO state(name, value) VALUES(x'7374657073', ?1)",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "PRAGMA quick_check(1)",
};

// SQLite detects inconsistent pages, but not a flipped letter inside a value.
std::string digest_of_values(std::initializer_list<std::string_view> values) {
  Sha256 hash;
  for (const std::string_view value : values) {
    hash.update(value);
    hash.update(std::string_view("\0", 1));
  }
  return to_hex(hash.finish()).substr(0, 32);
}

// Never leaves this file.
class SqlFailure : public Error {
 public:
  SqlFailure(int result, const char* text) : Error(text), code(result & 0xff) {}
  int code;
};

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Close>;

void need(sqlite3* database, int result) {
  if (result != SQLITE_OK) throw SqlFailure(result, sqlite3_errmsg(database));
}

Connection open(const std::string& name, int flags) {
  sqlite3* database = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &database, flags, nullptr);
  Connection connection(database);
  if (result != SQLITE_OK) throw SqlFailure(result, sqlite3_errstr(result));
  return connection;
}

std::string immutable_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.native()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

// One use of a prepared statement; its destructor resets the statement.
class Use {
 public:
  Use(sqlite3* database, sqlite3_stmt* statement) : m_database(database), m_statement(statement) {}
  ~Use() {
    sqlite3_reset(m_statement);
    sqlite3_clear_bindings(m_statement);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  Use& bind(int at, std::string_view text) {
    // A null pointer would be NULL, which equals nothing.
    const char* data = text.data() == nullptr ? "" : text.data();
    need(m_database, sqlite3_bind_blob64(m_statement, at, data, text.size(), SQLITE_STATIC));
    return *this;
  }
  Use& bind(int at, std::int64_t number) {
    need(m_database, sqlite3_bind_int64(m_statement, at, number));
    return *this;
  }
  bool step() {
    const int result = sqlite3_step(m_statement);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) throw SqlFailure(result, sqlite3_errmsg(m_database));
    return false;
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(m_statement, column));
    const int size = sqlite3_column_bytes(m_statement, column);
    return data == nullptr ? std::string() : std::string(data, static_cast<std::size_t>(size));
  }
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(m_statement, column); }

 private:
  sqlite3* m_database;
  sqlite3_stmt* m_statement;
};

}  // namespace

struct Index::Database {
  std::filesystem::path file, lock;
  std::mutex mutex;
  bool was_broken = false;
  Connection connection;
  std::array<std::unique_ptr<sqlite3_stmt, Close>, k_sql.size()> statements;

  void close() {
    for (auto& statement : statements) statement.reset();
    connection.reset();
  }

  Use use(Sql sql) {
    auto& statement = statements[static_cast<std::size_t>(sql)];
    if (!statement) {
      sqlite3_stmt* made = nullptr;
      need(connection.get(), sqlite3_prepare_v3(connection.get(), k_sql[static_cast<std::size_t>(sql)], -1,
                                                SQLITE_PREPARE_PERSISTENT, &made, nullptr));
      statement.reset(made);
    }
    return {connection.get(), statement.get()};
  }
  void run(const std::string& sql) {
    need(connection.get(), sqlite3_exec(connection.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  int version() {
    int found = 0;
    const auto take = [](void* into, int, char** values, char**) {
      if (values[0] != nullptr) *static_cast<int*>(into) = std::atoi(values[0]);
      return 0;
    };
    need(connection.get(), sqlite3_exec(connection.get(), "PRAGMA user_version", take, &found, nullptr));
    return found;
  }

  void make_tables() {
    run("BEGIN IMMEDIATE");
    run(k_tables);
    run(fmt::format("PRAGMA user_version = {}", k_schema));
    run("COMMIT");
  }

  void open_file() {
    close();
    connection = open(file.native(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
    if (sqlite3_db_readonly(connection.get(), "main") == 1) throw SqlFailure(SQLITE_READONLY, "read-only");
    sqlite3_busy_timeout(connection.get(), k_busy_milliseconds);
    // Fails while another process holds the file; the existing journal mode works, too.
    sqlite3_exec(connection.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    run("PRAGMA synchronous = OFF");
    const int found = version();
    if (found == k_schema) return;
    if (found != 0) throw SqlFailure(SQLITE_NOTADB, "of another version");
    make_tables();
  }

  void open_memory() {
    close();
    connection = open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
    try {
      const Connection source = open(immutable_uri(file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
      if (sqlite3_backup* backup = sqlite3_backup_init(connection.get(), "main", source.get(), "main")) {
        sqlite3_backup_step(backup, -1);
        need(connection.get(), sqlite3_backup_finish(backup));
      }
      if (version() == k_schema) return;
    } catch (const SqlFailure&) {
      // Nothing to copy: use an empty database.
    }
    close();
    connection = open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
    make_tables();
  }

  // With the lock held, so that only one of two processes that find it broken replaces it.
  void replace(bool even_if_sound) {
    close();
    try {
      sys::make_folders(lock.parent_path());
      const sys::FileLock held(lock);
      if (!even_if_sound) {
        try {
          open_file();
          if (sound()) return;
        } catch (const SqlFailure&) {
          // Still broken.
        }
        close();
      }
      was_broken = true;
      std::error_code ignored;
      for (const char* suffix : {"-wal", "-shm", "-journal", ""}) {
        const std::filesystem::path part = file.native() + suffix;
        // Do not remove a folder of that name.
        if (!std::filesystem::is_directory(part, ignored)) std::filesystem::remove(part, ignored);
      }
      open_file();
    } catch (const Error&) {  // the index is a cache: fall back to one in memory
      open_memory();
    }
  }

  void open_if_closed() {
    if (connection) return;
    try {
      open_file();
    } catch (const SqlFailure& failure) {  // replace a broken file; otherwise as above
      if (is_broken(failure))
        replace(false);
      else
        open_memory();
    }
  }

  static bool is_broken(const SqlFailure& failure) {
    // ERROR: a table is missing or has different columns.
    return failure.code == SQLITE_CORRUPT || failure.code == SQLITE_NOTADB || failure.code == SQLITE_ERROR;
  }

  bool sound() {
    Use check = use(Sql::check);
    return check.step() && check.text(0) == "ok";
  }

  // Runs the task on the current database; returns `fallback` when no database works.
  template <class Task, class Answer>
  Answer ask(Answer fallback, const Task& task) {
    const std::lock_guard guard(mutex);
    try {
      for (int attempt = 0; attempt < 3; ++attempt) {
        open_if_closed();
        try {
          return task();
        } catch (const SqlFailure& failure) {
          if (failure.code == SQLITE_BUSY || failure.code == SQLITE_LOCKED) return fallback;
          if (is_broken(failure) && attempt == 0)
            replace(false);
          else
            open_memory();
        }
      }
    } catch (const SqlFailure&) {  // without an index, the files are read
      close();
    }
    return fallback;
  }
};

Index::Index(std::filesystem::path file, std::filesystem::path lock) : m_database(std::make_unique<Database>()) {
  m_database->file = std::move(file);
  m_database->lock = std::move(lock);
}
Index::~Index() = default;

std::optional<std::string> Index::remembered(std::string_view kind, std::string_view subject,
                                             std::string_view fingerprint) {
  return m_database->ask(std::optional<std::string>(), [&]() -> std::optional<std::string> {
    Use select = m_database->use(Sql::remembered);
    if (!select.bind(1, kind).bind(2, subject).bind(3, fingerprint).step()) return std::nullopt;
    std::string facts = select.text(0);
    if (select.text(1) != digest_of_values({kind, subject, fingerprint, facts})) return std::nullopt;
    return facts;
  });
}

void Index::remember(std::string_view kind, std::string_view subject, std::string_view fingerprint,
                     std::string_view facts) {
  const std::string digest = digest_of_values({kind, subject, fingerprint, facts});
  m_database->ask(false, [&] {
    Use insert = m_database->use(Sql::remember);
    return insert.bind(1, kind).bind(2, subject).bind(3, fingerprint).bind(4, facts).bind(5, digest).step();
  });
}

std::vector<Index::Row> Index::rows() {
  return m_database->ask(std::vector<Row>(), [&] {
    std::vector<Row> rows;
    Use select = m_database->use(Sql::rows);
    while (select.step()) rows.push_back({select.text(0), select.text(1), select.text(2), select.number(3)});
    return rows;
  });
}

std::vector<std::string> Index::newest(std::string_view identity) {
  return m_database->ask(std::vector<std::string>(), [&] {
    std::vector<std::string> keys;
    Use select = m_database->use(Sql::newest);
    select.bind(1, identity);
    while (select.step()) keys.push_back(select.text(0));
    return keys;
  });
}

void Index::add(const Row& row) {
  m_database->ask(false, [&] {
    Use insert = m_database->use(Sql::add);
    return insert.bind(1, row.key).bind(2, row.identity).bind(3, row.wheel_sha256).bind(4, row.finished).step();
  });
}

void Index::update(const std::vector<Row>& added, const std::vector<std::string>& gone, std::string_view state) {
  m_database->ask(false, [&] {
    m_database->use(Sql::begin).step();
    try {
      for (const Row& row : added) {
        Use insert = m_database->use(Sql::add);
        insert.bind(1, row.key).bind(2, row.identity).bind(3, row.wheel_sha256).bind(4, row.finished).step();
      }
      for (const std::string& key : gone) m_database->use(Sql::remove).bind(1, key).step();
      const std::string with_digest = fmt::format("{} {}", digest_of_values({state}), state);
      m_database->use(Sql::set_state).bind(1, with_digest).step();
      return m_database->use(Sql::commit).step();
    } catch (const SqlFailure&) {
      sqlite3_exec(m_database->connection.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  });
}

std::string Index::state() {
  return m_database->ask(std::string(), [&] {
    Use select = m_database->use(Sql::state);
    const std::string value = select.step() ? select.text(0) : std::string();
    const std::size_t space = std::min(value.find(' '), value.size());
    const std::string state = value.substr(std::min(space + 1, value.size()));
    return value.substr(0, space) == digest_of_values({state}) ? state : std::string();
  });
}

std::size_t Index::damaged_values() {
  return m_database->ask(std::size_t{0}, [&] {
    std::size_t damaged = 0;
    Use memos = m_database->use(Sql::memos);
    while (memos.step())
      damaged +=
          memos.text(4) != digest_of_values({memos.text(0), memos.text(1), memos.text(2), memos.text(3)}) ? 1 : 0;
    Use state = m_database->use(Sql::state);
    if (state.step()) {
      const std::string value = state.text(0);
      const std::size_t space = std::min(value.find(' '), value.size());
      damaged += value.substr(0, space) != digest_of_values({value.substr(std::min(space + 1, value.size()))}) ? 1 : 0;
    }
    return damaged;
  });
}

bool Index::was_broken() {
  const std::lock_guard guard(m_database->mutex);
  return m_database->was_broken;
}

bool Index::is_sound() {
  return m_database->ask(false, [&] { return m_database->sound(); });
}

void Index::remake() {
  const std::lock_guard guard(m_database->mutex);
  try {
    m_database->replace(true);
    m_database->was_broken = false;
  } catch (const Error&) {  // the next query retries
    m_database->close();
  }
}

}  // namespace wheelsmith::store
