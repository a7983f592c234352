use kindsight_contract::Tree;

use crate::{Health, Input, Libraries, RunError, Script};

/// The health that a script states for an object.
fn health(script: &Script, object: &str, libraries: Libraries) -> Result<Health, RunError> {
    let tree = Tree::read(object).expect("JSON");
    let document = tree.document(object);
    script.health(&Input {
        object: document.root(),
        libraries,
        now_ms: 1_700_000_000_000,
    })
}

/// The message that a script returns for an object, or its error.
fn run_with(script: &str, object: &str, libraries: Libraries) -> String {
    let script = match Script::compile(script) {
        Ok(script) => script,
        Err(error) => return format!("compile: {error}"),
    };
    match health(&script, object, libraries) {
        Ok(Health::Stated { message, .. }) => message,
        Ok(Health::None) => "none".to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

/// The text of an expression, behind statements.
fn eval(statements: &str, expression: &str) -> String {
    let script = format!("{statements}\nreturn {{status = 'x', message = tostring({expression})}}");
    run_with(&script, "{}", Libraries::StringAndMath)
}

#[test]
fn expressions_have_the_values_of_lua() {
    for (expression, value) in [
        ("1 + 2 * 3 ^ 2", "19"),
        ("-2 ^ 2", "-4"),
        ("2 ^ -1", "0.5"),
        ("7 % -3", "-2"),
        ("10 / 4", "2.5"),
        ("10 / 5", "2"),
        ("'10' + 5", "15"),
        ("1 .. 2 .. 'x'", "12x"),
        ("'a' .. 'b' == 'ab'", "true"),
        ("nil == false", "false"),
        ("not nil and 1 or 2", "1"),
        ("nil and 1", "nil"),
        ("false or nil", "nil"),
        ("'a' < 'b' and 1 < 2 and 2 >= 2", "true"),
        ("#'héllo'", "6"),
        ("#{1, 2, nil, 4}", "4"),
        ("({10, 20, 30})[2]", "20"),
        ("({a = {b = 'c'}}).a.b", "c"),
        (
            "(function(...) return select('#', ...) end)(1, nil, nil)",
            "3",
        ),
        ("(function(...) local a, b = ... return b end)(1, 2)", "2"),
        ("#{(function() return 1, 2, 3 end)()}", "3"),
        ("#{(function() return 1, 2, 3 end)(), 9}", "2"),
        ("#{((function() return 1, 2, 3 end)())}", "1"),
        ("type(type)", "function"),
        ("tonumber('0x1F') + tonumber('  12  ')", "43"),
        ("tonumber('z', 36)", "35"),
        ("tonumber('x')", "nil"),
        ("math.floor(3.7) + math.max(1, 5, 2)", "8"),
        ("[[\nlong]] .. [==[ ]] ]==]", "long ]] "),
        ("'\\65\\n\\x'", "A\nx"),
        ("1e3", "1000"),
        ("0x10", "16"),
        ("select(-1, 1, 2, 3)", "3"),
        ("tonumber('1e3')", "nil"),
        ("'1e3' + 0", "1000"),
        ("tonumber('010') .. '010' + 0", "108"),
        ("tonumber('ff', 16) .. tonumber('1.5')", "2551.5"),
        ("tonumber('10', 99)", "nil"),
        ("1234567.5 .. ' ' .. 1e19", "1.2345675e+06 1e+19"),
        ("string.format('%g', 1000000)", "1e+06"),
        ("({10, [1] = 20})[1] .. ({[1] = 20, 10})[1]", "1010"),
        ("#{[1] = 20, 10} .. #{[3] = 'c', 'a', 'b'}", "13"),
        ("({[1] = 20, nil})[1]", "nil"),
        ("({10, 11, [2] = 20, x = 1})[2]", "11"),
        ("({[2] = 'b', 'a', x = 1})[2]", "b"),
        ("({[0] = 'z', [2] = 'b', 'a', 'c'})[2]", "c"),
    ] {
        assert_eq!(eval("", expression), value, "{expression}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of scripts")]
fn statements_run_as_in_lua() {
    for (statements, expression, value) in [
        ("local s = 0 for i = 1, 10 do s = s + i end", "s", "55"),
        ("local s = 0 for i = 10, 1, -3 do s = s + i end", "s", "22"),
        (
            "local s = '' for i, v in ipairs({'a', 'b', nil, 'd'}) do s = s .. i .. v end",
            "s",
            "1a2b",
        ),
        (
            "local s = '' for k, v in pairs({x = 1, y = 2, 7}) do s = s .. k .. v end",
            "s",
            "17x1y2",
        ),
        (
            "local i = 0 while true do i = i + 1 if i == 5 then break end end",
            "i",
            "5",
        ),
        (
            "local i = 0 repeat local j = i i = i + 1 until j == 3",
            "i",
            "4",
        ),
        (
            "local s = 0 for i = 1, 5 do if i % 2 == 0 then goto continue end s = s + i ::continue:: end",
            "s",
            "9",
        ),
        (
            "local i = 1 ::top:: if i < 4 then i = i + 1 goto top end",
            "i",
            "4",
        ),
        ("local a, b = 1, 2 a, b = b, a", "a .. b", "21"),
        (
            "local t = {1, 2} local i = 1 i, t[i] = i + 1, 20",
            "t[1] .. i",
            "202",
        ),
        (
            "local t = {} t.a, t.b, t['c'] = 1, 2, 3",
            "t.a + t.b + t.c",
            "6",
        ),
        (
            "local f = {} for i = 1, 3 do f[i] = function() i = i + 10 return i end end f[1]()",
            "f[1]() .. f[2]()",
            "2112",
        ),
        (
            "local function fact(n) if n == 0 then return 1 end return n * fact(n - 1) end",
            "fact(10)",
            "3628800",
        ),
        (
            "local n = 0 local function f() n = n + 1 return function() n = n + 1 return n end end",
            "f()()",
            "2",
        ),
        (
            "local t = {n = 1} function t.f(x) return x end function t:g(x) return self.n + x end",
            "t.f(1) + t:g(2)",
            "4",
        ),
        (
            "local ok, e = pcall(function() error('bad') end)",
            "e",
            "<string>:1: bad",
        ),
        (
            "local ok, e = pcall(function() error({code = 7}) end)",
            "e.code",
            "7",
        ),
        ("local ok, e = pcall(error, 'plain', 0)", "e", "plain"),
        (
            "local ok, a, b = pcall(function() return 1, 2 end)",
            "a + b",
            "3",
        ),
        (
            "local t = setmetatable({}, {__index = function(t, k) return k .. '!' end, __call = function(self, x) return x * 2 end})",
            "t.x .. t(4)",
            "x!8",
        ),
        (
            "local t = setmetatable({}, {__index = {y = 5}, __tostring = function() return 'T' end})",
            "tostring(t) .. t.y",
            "T5",
        ),
        (
            "local V = {} V.__add = function(a, b) return a.v + b.v end local a, b = setmetatable({v = 1}, V), setmetatable({v = 2}, V)",
            "a + b",
            "3",
        ),
        (
            "local t = {5, 3, 9, 1} table.sort(t)",
            "table.concat(t, ',')",
            "1,3,5,9",
        ),
        (
            "local t = {5, 3, 9} table.sort(t, function(a, b) return a > b end)",
            "table.concat(t, ',')",
            "9,5,3",
        ),
        (
            "local t = {1, 2, 3} table.insert(t, 1, 0) table.insert(t, 4) table.remove(t, 2)",
            "table.concat(t, ',')",
            "0,2,3,4",
        ),
        (
            "local t = {} for i = 1, 100 do t['k' .. i] = i end local s = 0 for k, v in pairs(t) do s = s + v t[k] = nil end",
            "s .. tostring(next(t))",
            "5050nil",
        ),
        ("x = 5 local function f() return x end", "f()", "5"),
        ("do local a = 1 end", "a", "nil"),
        ("local a <const> = 1", "a", "compile"),
        (
            "local s = 0 for i = 1, 3 do local v = i if v == 2 then goto next end s = s + v ::next:: end",
            "s",
            "4",
        ),
        ("local t = {x = 1} t[3] = 'c'", "#t", "3"),
        (
            "local t = {x = 1} t[3] = 'c' t[1] = 'a' t[2] = 'b' table.insert(t, 'd')",
            "table.concat(t)",
            "abcd",
        ),
        (
            "local s = '' for k, v in pairs({[100] = 'x', [2] = 'y', 'a', 'b', z = 1}) do s = s .. k .. v end",
            "s",
            "1a2b100xz1",
        ),
    ] {
        let result = eval(statements, expression);
        if value == "compile" {
            assert!(
                result.starts_with("compile: line 1: "),
                "{statements}: {result}"
            );
        } else {
            assert_eq!(result, value, "{statements}; {expression}");
        }
    }
}

#[test]
fn texts_are_searched_and_formatted_as_in_lua() {
    for (expression, value) in [
        ("('hello world'):find('wor')", "7"),
        ("('a.b'):find('.', 1, true)", "2"),
        ("('key=value'):match('(%w+)=(%w+)')", "key"),
        ("('2026-01-02'):match('^(%d+)-(%d+)')", "2026"),
        ("('  x '):match('^%s*(.-)%s*$') .. '|'", "x|"),
        ("('abc'):gsub('%w', '%0%0')", "aabbcc"),
        ("('abc'):gsub('b', {b = 'X'})", "aXc"),
        (
            "('abc'):gsub('.', function(c) if c == 'b' then return 'Y' end end)",
            "aYc",
        ),
        ("('f(a(b)c)d'):match('%b()')", "(a(b)c)"),
        ("('THE (quick) fox'):find('%((%a+)%)')", "5"),
        (
            "('x'):rep(3) .. ('abc'):sub(-2) .. ('abc'):upper() .. #('abc'):reverse()",
            "xxxbcABC3",
        ),
        (
            "('abc'):sub(2, 10) .. ('abc'):sub(0) .. ('abc'):sub(3, 2)",
            "bcabc",
        ),
        (
            "string.format('%d %s %5.2f %x %q %5s|%-5s|%05d', 42, 'x', 3.14159, 255, 'a\"b', 'r', 'l', 7)",
            "42 x  3.14 ff \"a\\\"b\"     r|l    |00007",
        ),
        ("string.format('%s %s %s', nil, true, 1.5)", "nil true 1.5"),
        ("string.format('%d%%', 50)", "50%"),
        ("string.byte('A') .. string.char(66, 67)", "65BC"),
        (
            "(function() local s = '' for k, v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do s = s .. k .. v end return s end)()",
            "a1b2",
        ),
        (
            "(function() local n = 0 for w in ('one two three'):gmatch('%a+') do n = n + 1 end return n end)()",
            "3",
        ),
        ("('a,b,,c'):gsub(',', ';', 2)", "a;b;,c"),
        ("('[x]'):match('[%[](.)[]]')", "x"),
        ("('a-b'):match('[a-]+')", "a-"),
        ("os.time()", "1700000000"),
        ("os.date('!%Y-%m-%dT%H:%M:%SZ', 0)", "1970-01-01T00:00:00Z"),
        (
            "os.time({year = 2026, month = 1, day = 2, hour = 0})",
            "1767312000",
        ),
        ("os.date('*t').year", "2023"),
        (
            "os.time({year = '2026', month = '08', day = '010', hour = '00'})",
            "1786320000",
        ),
        ("os.date('!%a %A', 0)", "mon Thursday"),
    ] {
        assert_eq!(eval("", expression), value, "{expression}");
    }
}

#[test]
fn functions_of_texts_differ_from_lua_as_in_gopher_lua() {
    for (expression, value) in [
        ("('abc'):find('', 3)", "1"),
        ("('abc'):find('%d*', 10)", "nil"),
        ("select('#', ('abc'):byte())", "3"),
        ("select('#', ('abc'):byte(2))", "1"),
        ("#{('x'):match('y')}", "0"),
        ("(('x'):match('y'))", "nil"),
        (
            "tonumber(('x'):match('y'))",
            "error: <string>:2: bad argument #1 (value expected)",
        ),
        ("('abc'):gsub('b', function() return true end)", "ac"),
        (
            "('abc'):gsub('b', 5)",
            "error: <string>:2: bad argument #3 (string or table or function expected, got number)",
        ),
        (
            "('x'):rep('3')",
            "error: <string>:2: bad argument #2 (number expected, got string)",
        ),
    ] {
        assert_eq!(eval("", expression), value, "{expression}");
    }
}

#[test]
fn an_item_replaces_the_explicit_keys_of_its_batch() {
    let items: Vec<String> = (1..=60).map(|item| item.to_string()).collect();
    let table = format!("local t = {{{}, [55] = 'x', [5] = 'y'}}", items.join(", "));
    // As in Lua, the first 50 items are in the table before the explicit keys.
    assert_eq!(eval(&table, "t[55] .. t[5] .. #t"), "55y60");
}

#[test]
fn objects_are_read_as_argo_cd_passes_them() {
    let object = r#"{"status": {"n": 3, "f": 1.5, "t": true, "s": "x", "z": null, "e": [], "o": {},
        "list": [{"a": 1}, null, {"a": 2}], "k1": 1, "k2": 2, "k3": 3, "k4": 4}}"#;
    let script = "local s = obj.status
        local n = 0
        for _, item in ipairs(s.list) do n = n + item.a end
        s.new = 'w'
        return {status = 'x', message = s.n .. s.f .. tostring(s.t) .. s.s .. tostring(s.z) .. #s.e .. tostring(next(s.o)) .. n .. s.k4 .. s.new}";
    let result = run_with(script, object, Libraries::Base);
    assert_eq!(result, "31.5truexnil0nil34w");
}

#[test]
fn a_result_is_read_as_in_go() {
    for (script, status, message) in [
        ("return {Status = 'Healthy', MESSAGE = 'm'}", "Healthy", "m"),
        (
            "return {Status = 'Degraded', status = 'Healthy', STATUS = 'Missing'}",
            "Healthy",
            "",
        ),
        (
            "local hs = {status = 'Healthy', Status = 'Degraded'} hs.status = nil return hs",
            "Degraded",
            "",
        ),
        ("return 'first', {status = 'Healthy'}", "Healthy", ""),
    ] {
        let compiled = Script::compile(script).expect(script);
        let expected = Health::Stated {
            status: status.to_owned(),
            message: message.to_owned(),
        };
        let stated = health(&compiled, "{}", Libraries::Base);
        assert_eq!(stated, Ok(expected), "{script}");
    }
}

#[test]
fn errors_name_the_line_and_the_cause() {
    for (script, expected) in [
        (
            "\nreturn obj.a.b",
            "error: <string>:2: attempt to index a non-table object(nil) with key 'b'",
        ),
        (
            "local x = nil\nx()",
            "error: <string>:2: attempt to call a nil value",
        ),
        (
            "return {} + 1",
            "error: <string>:1: cannot perform add operation between table and number",
        ),
        (
            "return {} < 1",
            "error: <string>:1: attempt to compare table with number",
        ),
        ("error('own')", "error: <string>:1: own"),
        (
            "for i = '1', 2 do end",
            "error: <string>:1: for statement init must be a number",
        ),
        (
            "return ('x'):upper()",
            "error: <string>:1: attempt to index a non-table object(string) with key 'upper'",
        ),
        (
            "return string.format('x')",
            "error: <string>:1: attempt to index a non-table object(nil) with key 'format'",
        ),
        (
            "if x then",
            "compile: line 1: syntax error near the end of the script: 'end' expected",
        ),
        ("x = = 1", "compile: line 1: syntax error near '='"),
        (
            "goto nowhere",
            "compile: line 1: no visible label 'nowhere' for goto",
        ),
        ("break", "compile: line 1: no loop to break"),
        (
            "return 5",
            "error: the script returned a number and not a table",
        ),
        (
            "return {message = {}}",
            "error: `message` of the result is a table and not a string",
        ),
        ("return nil", "none"),
        ("return {}", "none"),
        ("return load, loadstring, dofile, io, debug, _G", "none"),
        (
            "return {status = 'x', message = type(require('os').time)}",
            "function",
        ),
        (
            "return require('io')",
            "error: <string>:1: module io not found",
        ),
    ] {
        assert_eq!(
            run_with(script, "{}", Libraries::Base),
            expected,
            "{script}"
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of scripts")]
fn hostile_scripts_end_with_an_error() {
    let nested = format!("return {}1{}", "(".repeat(5000), ")".repeat(5000));
    let deep = format!("{} {}", "do ".repeat(5000), "end ".repeat(5000));
    for (script, expected) in [
        ("while true do end", "error: the script runs too long"),
        (
            "while true do pcall(function() while true do end end) end",
            "error: the script runs too long",
        ),
        (
            "local function f() return f() + 1 end return f()",
            "error: <string>:1: stack overflow",
        ),
        (
            "local function f() return pcall(f) end f() return {message = 'caught'}",
            "caught",
        ),
        (
            "local t = {} setmetatable(t, {__index = function(t, k) return t[k .. 'x'] end}) return t.a",
            "error: <string>:1: stack overflow",
        ),
        (
            "local t = {} setmetatable(t, {__index = t}) return t.a",
            "error: <string>:1: too many recursions in gettable",
        ),
        (
            "local s = 'x' while true do s = s .. s end",
            "error: the script uses too much memory",
        ),
        (
            "local t = {} while true do t[#t + 1] = {} end",
            "error: the script uses too much memory",
        ),
        (
            "return ('x'):rep(1e9)",
            "error: the script uses too much memory",
        ),
        (
            "return ('x'):rep(1e300)",
            "error: the script uses too much memory",
        ),
        (
            "return {message = ('a'):rep(3000):find(('a?'):rep(3000) .. ('a'):rep(3000))}",
            "error: <string>:1: pattern too complex",
        ),
        (
            "return ('a'):rep(30000):find('.-.-.-.-b')",
            "error: the script runs too long",
        ),
        (
            "return string.format('%99999d', 1)",
            "error: <string>:1: invalid format (width or precision too long)",
        ),
        (
            "return string.format('%d')",
            "error: <string>:1: bad argument #2 (no value)",
        ),
        (
            "return {unpack({}, 1, 1e8)}",
            "error: <string>:1: stack overflow",
        ),
        (
            "return table.concat({}, 'x', 1, 1e9)",
            "error: the script returned a string and not a table",
        ),
        (
            "local t = {1} table.sort(t, function() error('x') end) return {message = 'one'}",
            "one",
        ),
        (
            "local t = {3, 2, 1} table.sort(t, function() return true end) return {message = 'sorted'}",
            "sorted",
        ),
        ("for i = 1, 1e15 do end", "error: the script runs too long"),
        (
            "local t = {} t[1e15] = 1 return {message = 'sparse'}",
            "sparse",
        ),
        (&nested, "compile: line 1: more than 100 levels of nesting"),
        (&deep, "compile: line 1: more than 100 levels of nesting"),
    ] {
        let result = run_with(script, "{}", Libraries::StringAndMath);
        let name: String = script.chars().take(60).collect();
        assert_eq!(result, expected, "{name}");
    }
}
