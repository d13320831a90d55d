"""Finding secrets by the words and names before them, where what stands there looks like one."""

import base64
import json

import pytest

from .secrets_made_up import ALNUM, HEX, made
from .test_secret_scan import clean, kinds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("password: {}\n", "password"),
        ("PASSWORD={}\n", "password"),
        ("export DB_PASSWD='{}'", "password"),
        ('{{"userPassword": "{}"}}', "password"),
        ("password: str = '{}'", "password"),
        ("Server=db;Uid=sa;Pwd={};", "password"),
        ("mysql --password={} app", "password"),
        ("passphrase => `{}`", "password"),
        ('$password := "{}"', "password"),
        ("https://example.com/login?password={}&user=me", "password"),
        ("curl -H 'Authorization: Bearer {}' https://example.com", "bearer-token"),
        ('{{"authorization": "bearer {}"}}', "bearer-token"),
        ("headers['Authorization'] = 'token {}'", "bearer-token"),
        ("//npm.example.com/:_auth = {}", "npmrc-auth"),
        ("mysql --password {} app", "password"),
        ("mysql --db-password '{}' app", "password"),
        ("sshpass -p '{}' ssh example.com", "password"),
        ("requirepass {}", "password"),
        ("<password>{}</password>", "password"),
        ("SMTP_PASS={}", "password"),
        ('{{"pass": "{}"}}', "password"),
        ("MYSQL_PWD={} mysql", "password"),
        ("machine example.com\n  login me\n  password {}\n", "netrc-password"),
        ('curl -X POST --user "me:{}" https://example.com', "curl-auth-user"),
        ("Set-Cookie: connect.sid={}; Path=/", "session-cookie"),
        ("curl --cookie 'a=b; sessionid={}'", "session-cookie"),
        ("DEEPSEEK_API_KEY={}", "generic-api-key"),
        ("export MY_TOKEN={}", "generic-api-key"),
        ("x-api-key: {}", "generic-api-key"),
        ("headers = {{'X-Api-Key': '{}'}}", "generic-api-key"),
        ('headers.set("x-api-key", "{}")', "generic-api-key"),
        ("https://example.com/v1?api_key={}&page=2", "generic-api-key"),
        ('client_secret = "{}"', "generic-api-key"),
        ('{{"clientSecret": "{}"}}', "generic-api-key"),
        ('os.environ["APP_SECRET"] = "{}"', "generic-api-key"),
        ("OPENAI_KEY={}", "generic-api-key"),
        ("SECRET_KEY_BASE={}", "generic-api-key"),
        ("app.secret_key = b'{}'", "generic-api-key"),
        ("tool --api-key {} run", "generic-api-key"),
        ('{{"name": "API_KEY", "value": "{}"}}', "generic-api-key"),
        ("- name: API_KEY\n  value: {}\n", "generic-api-key"),
        ("mysqldump -u root -p{} app", "password"),
        ("<apiKey>{}</apiKey>", "generic-api-key"),
        ("token: {}.", "generic-api-key"),
    ],
)
def test_a_secret_is_told_by_the_word_before_it(text: str, kind: str) -> None:
    secret = made("k7", (ALNUM, 20))
    said = text.format(secret)
    for around in (said, json.dumps({"a": said}), json.dumps([json.dumps({"a": said})])):
        assert (kinds(around), secret in clean(around)) == ([kind], False)
    if "[" not in text:
        assert (kinds(text.format("${SECRET}")), kinds(text.format("<secret>")), kinds(text.format("x" * 12))) == (
            [],
        ) * 3


@pytest.mark.parametrize(
    "value",
    [
        made("sk-", (HEX, 32)),
        made((HEX, 32)),
        made((HEX.upper(), 40)),
        made((HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-8", (HEX, 3), "-", (HEX, 12)),
        made((ALNUM, 16)),
        made((ALNUM + "-._~", 40)),
        made((ALNUM + "+/", 43), "="),
        made("django-insecure-", ("abcdefghij0123456789!@#$%^&*(-_=+)", 50)),
    ],
)
def test_a_key_looks_made_by_chance(value: str) -> None:
    said = f"SECRET_KEY = '{value}'"
    assert kinds(said) == kinds(json.dumps({"a": said})) == ["generic-api-key"]


@pytest.mark.parametrize(
    "value", ["kRwQzXbTnVpLgJ", "hunter22", "correct9horse", "P@55w0rd!", "Secret!Horse", "k1zPZM6uVxMQ3oxqgoYl="]
)
def test_a_password_need_not_be_made_by_chance(value: str) -> None:
    assert kinds(f'password = "{value}"') == kinds(json.dumps({"password": value})) == ["password"]


@pytest.mark.parametrize(
    "text",
    [
        'password = "password123"',
        'password = "your-password-1"',
        'password = "<password1>"',
        'password = "{password1}"',
        'password = "${PASSWORD1}"',
        'password = "$PASSWORD1"',
        'password = "%(password1)s"',
        'password = "changeme123"',
        'password = "********"',
        'password = "[redacted:password]"',
        'password = "current-password"',
        'password = "enter the 8 digits"',
        'password = "https://example.com/reset1"',
        'password = "/run/secrets/db1"',
        'password = "short1"',
        'password == "k7abcdEF12"',
        'password = os.environ["PASSWORD_1"]',
        "password=os.environ.get('PASSWORD_1')",
        "password=get_password(user1, db2)",
        "login(user=user1, password=userPass2)",
        "password=settings.DB_PASS2\n",
        "password: string;\n",
        "password_hash = 'k7abcdEF12'",
        "PWD=/home/dev/project1",
        "Authorization: Bearer YOUR_API_TOKEN_1234567",
        "Authorization: Bearer $TOKEN_1234567890abcdef",
        "Authorization: Bearer {token}",
        "Authorization: Bearer <token-1234567890abcdef>",
        "f'Authorization: Bearer {token1234567890abcdef}'",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "Authorization: Basic realm1234567890",
        "//npm.example.com/:_authToken=${NPM_TOKEN1}",
        "NotificationServiceManagers.method.some_function_of_the_module",
        "API_KEY=$API_KEY_OF_2026_FOR_EXAMPLES",
        "API_KEY=${API_KEY_1234567890abc}",
        "api_key = process.env.API_KEY_NUMBER_2",
        "api_key=settings.Providers2.mistralKey0",
        "api_key = os.environ['MISTRAL_API_KEY_2']",
        "API_KEY=0123456789abcdef0123456789abcdef",
        "api_key: str = get_api_key_of_provider2()",
        "api_key = 'the-key-of-the-provider-2'",
        "API_KEY=/run/secrets/api_key_of_provider_2",
        'token = "next-page-of-results-2026"',
        f'"nextPageToken": "{made((ALNUM, 40))}"',
        f'"csrf_token": "{made((ALNUM, 40))}"',
        f'"token": "{made((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12))}"',
        f"commit {made((HEX, 40))}",
        f"GPG_KEY={made((HEX.upper(), 40))}",
        f'"cache_key": "{made((HEX, 64))}"',
        f'"public_key": "{made((ALNUM, 44))}"',
        '"input_tokens": 12345678901234567890',
        f"secret {made((ALNUM, 40))}",
        "use --token instead-of-the-old-option-2",
        "curl -u user:password1 https://example.com",
        "curl -u $USER:$PASSWORD2 https://example.com",
        "use --password instead",
        "<password>changeme123</password>",
        "default login anonymous password user@example",
        "Cookie: theme=dark-and-with-2-colours; lang=en",
        f"client-certificate-data: {base64.b64encode(b'-----BEGIN CERTIFICATE-----' + bytes(range(200))).decode()}",
        '"auth": "bm8gbG9naW4gaXMgaW4gdGhpcyBvbmU="',
    ],
)
def test_what_stands_behind_such_a_word_may_be_no_secret(text: str) -> None:
    assert (kinds(text), kinds(json.dumps(text))) == ([], [])
