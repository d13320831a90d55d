"""What secrets look like: the shapes that those who hand them out give them, under the names of gitleaks' rules.

A rule is here if its secrets are known by a fixed beginning, so that what is found is one. What has no shape is told by
what stands before it: passwords and logins in `secret_words`, keys by their names in `secret_names`. Transcripts are
full of ids, and a warning that is wrong most of the time is read by nobody; so there its looks decide (`secret_looks`).

They are rules of our own, and no library's, since the result of an import must not depend on which version of one is
installed, and since an import scans all that it stores: detect-secrets 1.5 takes 1 MB a second, finds 15 of the 33
kinds in `tests/secrets_made_up.py`, and of a private key only the first line.

The rules are a part of the store's format, as the commits' text is: what `--redact` leaves of a record depends on them.
Rules for other secrets get another number; those of this number never change. New ones find what the old ones found, so
that a session goes on where nothing but its rules' number is new.
"""

from string import ascii_letters, digits

# The number that a redacted session's header carries.
VERSION = 4

# A token begins at the beginning of a row of at least 20 of `A-Za-z0-9_.-`, or in it after one of `-_.`; its first two
# characters stand in the pattern plainly, or in sets.
_WORD = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"
_LETTERS = f"{ascii_letters}{digits}_-"
TOKENS: tuple[tuple[str, str], ...] = (
    ("adobe-client-secret", rf"p8e-{_ALNUM}{{32}}"),
    ("age-secret-key", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("airtable-personal-access-token", rf"pat{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    ("alibaba-access-key-id", rf"LTAI{_ALNUM}{{20}}"),
    ("anthropic-api-key", rf"sk-ant-[a-z]+[0-9]{{2}}-{_WORD}{{80,}}"),
    ("artifactory-api-key", rf"AKCp{_ALNUM}{{69}}"),
    ("artifactory-reference-token", rf"cmVmd{_ALNUM}{{59}}"),
    ("atlassian-api-token", r"ATATT3[A-Za-z0-9_-]{20,}[A-Za-z0-9_=-]{160,}"),
    ("aws-access-token", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}"),
    ("cloudflare-origin-ca-key", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}"),
    ("databricks-api-token", rf"dapi{_HEX}{{32}}(?:-[0-9])?"),
    ("digitalocean-access-token", rf"do[opr]_v1_{_HEX}{{64}}"),
    ("discord-bot-token", rf"[MNO][{_LETTERS}]{_WORD}{{22,24}}\.{_WORD}{{6}}\.{_WORD}{{27,38}}"),
    ("docker-access-token", rf"dckr_[op]at_{_WORD}{{27,}}"),
    ("doppler-api-token", rf"dp\.(?:pt|st|sa|ct|scim|audit)\.{_WORD}[A-Za-z0-9_.-]{{39,}}"),
    ("duffel-api-token", r"duffel_(?:test|live)_[A-Za-z0-9_-]{43}"),
    ("dynatrace-api-token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("easypost-api-token", rf"EZ[AT]K{_ALNUM}{{54}}"),
    ("figma-token", rf"fig[dour]_{_WORD}{{40,}}"),
    ("gcp-api-key", rf"AIza{_WORD}{{35}}"),
    ("gcp-oauth-client-secret", rf"GOCSPX-{_WORD}{{28}}"),
    ("gcp-oauth-access-token", r"ya29\.[A-Za-z0-9_.-]{30,}"),
    ("github-fine-grained-pat", r"github_pat_[A-Za-z0-9_]{82}"),
    ("github-pat", rf"ghp_{_ALNUM}{{36}}"),
    ("github-oauth", rf"gho_{_ALNUM}{{36}}"),
    ("github-app-token", rf"gh[us]_{_ALNUM}{{36}}"),
    ("github-refresh-token", rf"ghr_{_ALNUM}{{36,76}}"),
    ("gitlab-pat", rf"glpat-{_WORD}{{20,}}(?:\.[A-Za-z0-9_.-]+)?"),
    ("gitlab-token", rf"gl(?:dt|rt|rtr|cbt|ptt|soat|ft|imt|agent|oas|ffct|wt)-{_WORD}{{20,}}(?:\.[A-Za-z0-9_.-]+)?"),
    ("grafana-service-account-token", rf"glsa_{_ALNUM}{{32}}_{_HEX}{{8}}"),
    ("groq-api-key", rf"gsk_{_ALNUM}{{52}}"),
    ("heroku-api-key-v2", rf"HRKU-AA{_WORD}{{58}}"),
    ("huggingface-access-token", r"hf_[A-Za-z0-9]{34}"),
    ("huggingface-organization-api-token", r"api_org_[A-Za-z0-9]{34}"),
    ("jwt", rf"eyJ{_WORD}{{14,}}\.eyJ{_WORD}{{14,}}\.{_WORD}{{10,}}"),
    ("langchain-api-key", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    ("linear-api-key", rf"lin_(?:api|oauth)_{_ALNUM}{{40,}}"),
    ("mailgun-private-api-token", rf"key-{_HEX}{{32}}"),
    ("new-relic-api-key", r"NRAK-[A-Z0-9]{27}"),
    ("notion-api-token", rf"ntn_[0-9]{{11}}{_ALNUM}{{35}}"),
    ("npm-access-token", rf"npm_{_ALNUM}{{36}}"),
    ("nvidia-api-key", rf"nvapi-{_WORD}{{60,}}"),
    ("openai-api-key", rf"sk-{_ALNUM}{{48}}"),
    ("openai-api-key", rf"sk-(?:(?:proj|svcacct|admin|None)-)?{_WORD}{{20,}}T3BlbkFJ{_WORD}{{20,}}"),
    ("openrouter-api-key", rf"sk-or-v1-{_HEX}{{64}}"),
    ("perplexity-api-key", rf"pplx-{_ALNUM}{{48}}"),
    ("planetscale-token", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.-]{32,64}={0,2}"),
    ("postman-api-token", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    ("pulumi-api-token", rf"pul-{_HEX}{{40}}"),
    ("pypi-upload-token", rf"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZ){_WORD}{{50,}}"),
    ("readme-api-token", rf"rdme_{_ALNUM}{{70}}"),
    ("replicate-api-token", rf"r8_{_ALNUM}{{37}}"),
    ("rubygems-api-token", rf"rubygems_{_HEX}{{48}}"),
    ("sendgrid-api-token", rf"SG\.{_WORD}{{22}}\.{_WORD}{{43}}"),
    ("sendinblue-api-token", rf"xkeysib-{_HEX}{{64}}-{_ALNUM}{{16}}"),
    ("sentry-user-token", rf"sntryu_{_HEX}{{64}}"),
    ("shippo-api-token", rf"shippo_(?:live|test)_{_HEX}{{40}}"),
    ("shopify-access-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("slack-app-token", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{30,}"),
    ("slack-token", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{24,}"),
    ("square-access-token", rf"(?:EAAA|sq0atp-){_WORD}{{22,60}}"),
    ("stripe-access-token", rf"[rs]k_(?:live|test|prod)_{_ALNUM}{{24,99}}"),
    ("stripe-webhook-secret", rf"whsec_{_ALNUM}{{32,}}"),
    ("supabase-token", rf"sb(?:p_{_HEX}{{40}}|_secret_{_WORD}{{31}})"),
    ("tailscale-key", rf"tskey-[a-z]+-{_ALNUM}+-{_ALNUM}{{20,}}"),
    ("telegram-bot-api-token", rf"(?<=[0-9]{{8}}:)AA{_WORD}{{33}}"),
    ("twilio-api-key", rf"SK{_HEX}{{32}}"),
    ("typeform-api-token", r"tfp_[A-Za-z0-9_.-]{59}"),
    ("vault-token", rf"hv[bsr]\.{_WORD}{{90,}}"),
    ("xai-api-key", rf"xai-{_ALNUM}{{80}}"),
)

# Those that names of programs can look like, such as `module.method.…`: the long parts of one have letters and digits.
MIXED = frozenset({"discord-bot-token"})

# Shapes that begin elsewhere than at a token: a text that must stand in what is searched, in small letters, and the
# pattern, whose group `secret` is the secret.
# Up to the line that ends a key, over line ends and what stands for them in JSON, also in JSON within JSON. What else
# stands between a key's lines is gone over by `secret_keys`.
_KEY = r"(?:\\++[nrt/]|[\sA-Za-z0-9+/=:,]|-(?!----))*+"
_IN_URL = r"[^\s/:@\"'`\\<>(){}\[\]$*,;|]"
_AWS_IS = r"[\\\"' ]{0,6}[:=]>?[\\\"' ]{0,6}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
# No word goes on here; an escape is none.
_ALONE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{4}))"
PHRASES: tuple[tuple[str, str, str], ...] = (
    (
        "private-key",
        "private key",
        rf"-----BEGIN[ A-Z0-9]{{0,40}} PRIVATE KEY(?: BLOCK)?-----(?P<secret>{_KEY})",
    ),
    (
        "credentials-in-url",
        "://",
        rf"://(?<=[A-Za-z0-9]://)(?P<user>{_IN_URL}{{0,100}}):(?P<secret>{_IN_URL}{{6,200}})@[A-Za-z0-9.\[-]",
    ),
    ("aws-secret-access-key", "access_key", rf"[sS]ecret_?[aA]ccess_[kK]ey{_AWS_IS}"),
    ("aws-secret-access-key", "accesskey", rf"[sS]ecret_?[aA]ccess[kK]ey{_AWS_IS}"),
    ("aws-secret-access-key", "access_key", rf"SECRET_ACCESS_KEY{_AWS_IS}"),
    ("azure-storage-key", "accountkey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)"),
    (
        "slack-webhook-url",
        "://",
        r"://hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)(?:/[A-Za-z0-9]+){1,3}/[A-Za-z0-9]{20,})",
    ),
    (
        "discord-webhook-url",
        "://",
        r"://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/(?P<secret>[0-9]{17,20}/[A-Za-z0-9_-]{60,72})",
    ),
    # Tokens in base64 may have a `/` or a `+` anywhere, so they need not have a row that is long enough.
    ("1password-service-account-token", "_eyj", rf"(?P<secret>{_ALONE}ops_eyJ[A-Za-z0-9+/]{{250,}}={{0,3}})"),
    ("aws-amazon-bedrock-api-key", "absk", rf"(?P<secret>{_ALONE}ABSK[A-Za-z0-9+/]{{100,}}={{0,2}})"),
    ("grafana-cloud-api-token", "_eyj", rf"(?P<secret>{_ALONE}glc_eyJ[A-Za-z0-9+/]{{30,}}={{0,3}})"),
    ("sentry-org-token", "_eyj", rf"(?P<secret>{_ALONE}sntrys_eyJ[A-Za-z0-9+/=]{{80,}}_[A-Za-z0-9+/]{{43}})"),
)

# Where a private key ends, whatever its lines begin with: the line that ends it, or the first line of another one.
KEY_BORDER = r"-----(?:BEGIN|(?P<end>END))[ A-Z0-9]{0,40} PRIVATE KEY"
# How far that line is looked for, and how soon a row of the key must come where there is none.
KEY_BYTES = 1 << 16
KEY_NEAR = 400

# Passwords in addresses that stand for one, or that everybody knows.
NO_PASSWORDS = frozenset(
    """
    password passwd passw0rd yourpassword your-password your_password my-password mypassword my_password dbpassword
    db_password secret mysecret token your-token your_token my-token access_token api_key apikey postgres mysql example
    changeme change-me change_me placeholder redacted hidden xxxxxx xxxxxxx xxxxxxxx username somepassword pass123
    """.split()  # noqa: SIM905  # a list of one word a line says no more
)
