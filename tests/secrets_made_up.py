"""Secrets that nobody uses, assembled when they are asked for, so that no scanner takes tests for a leak."""

import base64
import random
import string

ALNUM = string.ascii_letters + string.digits
HEX = string.hexdigits[:16]


def made(*parts: str | tuple[str, int], seed: int = 1) -> str:
    """Returns a text of fixed parts and of random ones, given by their letters and lengths; the same every time."""
    chance = random.Random(seed)
    return "".join(part if isinstance(part, str) else "".join(chance.choices(part[0], k=part[1])) for part in parts)


def key(rows: int = 6) -> str:
    """Returns what stands between the first and the last line of a private key."""
    text = base64.b64encode(random.Random(1).randbytes(48 * rows - 20)).decode()
    return "".join(f"\n{text[place : place + 64]}" for place in range(0, len(text), 64)) + "\n"


def private_key(kind: str = "RSA ") -> str:
    return f"-----BEGIN {kind}PRIVATE" + f" KEY-----{key()}-----END {kind}PRIVATE" + " KEY-----"


# One of each kind that people meet most.
SECRETS: dict[str, str] = {
    "anthropic-api-key": made("sk-", "ant-api03-", (ALNUM + "-_", 93), "AA"),
    "aws-access-token": made("AK", "IA", (string.ascii_uppercase + "234567", 16)),
    "databricks-api-token": made("da", "pi", (HEX, 32)),
    "digitalocean-access-token": made("dop", "_v1_", (HEX, 64)),
    "discord-bot-token": made("M", "T", (ALNUM, 22), ".", (ALNUM, 6), ".", (ALNUM, 38)),
    "docker-access-token": made("dckr", "_pat_", (ALNUM, 27)),
    "gcp-api-key": made("AI", "za", (ALNUM + "-_", 35)),
    "github-fine-grained-pat": made("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "github-pat": made("gh", "p_", (ALNUM, 36)),
    "github-oauth": made("gh", "o_", (ALNUM, 36)),
    "github-app-token": made("gh", "s_", (ALNUM, 36)),
    "gitlab-pat": made("gl", "pat-", (ALNUM, 20)),
    "groq-api-key": made("gs", "k_", (ALNUM, 52)),
    "huggingface-access-token": made("h", "f_", (string.ascii_letters, 34)),
    "jwt": made("ey", "J", (ALNUM, 33), ".ey", "J", (ALNUM, 60), ".", (ALNUM + "-_", 43)),
    "npm-access-token": made("np", "m_", (ALNUM, 36)),
    "openai-api-key": made("sk-", "proj-", (ALNUM + "-_", 74), "T3Blbk", "FJ", (ALNUM + "-_", 74)),
    "openrouter-api-key": made("sk-", "or-v1-", (HEX, 64)),
    "pypi-upload-token": made("pypi-", "AgEIcHlwaS5vcmc", (ALNUM + "-_", 80)),
    "sendgrid-api-token": made("S", "G.", (ALNUM, 22), ".", (ALNUM, 43)),
    "shopify-access-token": made("shp", "at_", (HEX, 32)),
    "slack-token": made("xo", "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
    "stripe-access-token": made("sk", "_live_", (ALNUM, 24)),
    "telegram-bot-api-token": made("A", "A", (ALNUM, 33)),
    "twilio-api-key": made("S", "K", (HEX, 32)),
    "xai-api-key": made("xa", "i-", (ALNUM, 80)),
    "private-key": key(),
    "credentials-in-url": made((ALNUM, 16)),
    "aws-secret-access-key": made((ALNUM + "/+", 40)),
    "azure-storage-key": made((ALNUM + "/+", 86), "=="),
    "aws-amazon-bedrock-api-key": made("AB", "SK", (ALNUM + "/+", 128), "="),
    "grafana-cloud-api-token": made("gl", "c_ey", "J", (ALNUM + "/+", 90), "=="),
    "slack-webhook-url": made("services/T", (string.ascii_uppercase, 8), "/B", (string.digits, 8), "/", (ALNUM, 24)),
    "discord-webhook-url": made((string.digits, 18), "/", (ALNUM, 68)),
    "password": made((ALNUM + "!#+", 14)),
    "bearer-token": made((ALNUM + "-._", 40)),
    "basic-auth": base64.b64encode(made("admin:", (ALNUM, 12)).encode()).decode(),
    "npmrc-auth": made((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12)),
    "generic-api-key": made((ALNUM, 40)),
    "docker-auth": base64.b64encode(made("robot:", (ALNUM, 30)).encode()).decode(),
    "curl-auth-user": made((ALNUM + "!#+", 14)),
    "netrc-password": made((ALNUM, 20)),
    "session-cookie": made((ALNUM, 32)),
    "private-key-in-base64": base64.b64encode(private_key().encode()).decode(),
}

# What stands around those that are told by it.
AROUND: dict[str, tuple[str, str]] = {
    "telegram-bot-api-token": ("1234567890:", ""),
    "private-key": ("-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"),
    "credentials-in-url": ("postgres:/" + "/app:", "@db.example.com:5432/app"),
    "aws-secret-access-key": ("aws_secret_access_key = ", ""),
    "azure-storage-key": ("AccountName=a;Account" + "Key=", ";EndpointSuffix=core.windows.net"),
    "slack-webhook-url": ("https://hooks.sla" + "ck.com/", ""),
    "discord-webhook-url": ("https://discord.com/api/web" + "hooks/", ""),
    "password": ("db_pass" + 'word = "', '"'),
    "bearer-token": ("Authori" + "zation: Bearer ", ""),
    "basic-auth": ("Authori" + "zation: Basic ", ""),
    "npmrc-auth": ("//npm.example.com/:_auth" + "Token=", ""),
    "generic-api-key": ("MISTRAL_API" + "_KEY=", ""),
    "docker-auth": ('{"auths": {"example.com": {"au' + 'th": "', '"}}}'),
    "curl-auth-user": ("cu" + "rl -sS -u admin:", " https://example.com"),
    "netrc-password": ("machine example.com login me pass" + "word ", ""),
    "session-cookie": ("Coo" + "kie: theme=dark; session=", "; lang=en"),
    "private-key-in-base64": ("client-key-data: ", ""),
}


def written(kind: str) -> str:
    """Returns a secret as it stands in a text, with what stands around it."""
    before, after = AROUND.get(kind, ("", ""))
    return before + SECRETS[kind] + after
