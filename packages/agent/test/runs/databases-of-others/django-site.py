"""Makes a site's database with Django's own `migrate`, and fills it as a site does.

python3 django-site.py SETTINGS: those of the database, as JSON.
"""

import datetime
import decimal
import json
import sys
import uuid

import django
from django.conf import settings

CONTRIB = "admin auth contenttypes flatpages messages redirects sessions sites".split()
DATABASE = json.loads(sys.argv[1])
ON_POSTGRESQL = DATABASE["ENGINE"].endswith("postgresql")

settings.configure(
    SECRET_KEY="x",
    SITE_ID=1,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    # Quick ones: nobody attacks these.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    INSTALLED_APPS=["django.contrib." + app for app in CONTRIB] + ["library"],
    DATABASES={"default": DATABASE},
)
django.setup()

from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.flatpages.models import FlatPage
from django.contrib.redirects.models import Redirect
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sites.models import Site
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from library import models

call_command("migrate", verbosity=0)
# Tables of applications without migrations, which refer to the others.
call_command("migrate", run_syncdb=True, verbosity=0)


@transaction.atomic
def fill():
    ada = User.objects.create_superuser("ada", "ada@example.org", "correct horse battery")
    staff = Group.objects.create(name="staff")
    staff.permissions.set(Permission.objects.filter(codename__startswith="add_"))
    for number in range(20):
        user = User.objects.create_user(f"user{number}", f"user{number}@example.org", "secret")
        user.groups.add(staff)
        session = SessionStore()
        session["_auth_user_id"] = str(user.pk)
        session.save()

    site = Site.objects.get_current()
    page = FlatPage.objects.create(url="/about/", title="Über uns 🚀", content="<p>It's \\N here.</p>\n" * 100)
    page.sites.add(site)
    Redirect.objects.create(site=site, old_path="/old/", new_path="/about/")
    LogEntry.objects.log_action(
        ada.pk, ContentType.objects.get_for_model(FlatPage).pk, page.pk, str(page), ADDITION, [{"added": {}}]
    )

    for number in range(50):
        author = models.Author.objects.create(
            name=f"Author {number}",
            born=None if number % 3 else datetime.date(1900 + number, 2, 28),
            notes={"awards": [number, None, "\x1f\\ 'é' 🚀"], "score": number / 7},
        )
        book = models.Book.objects.create(
            id=uuid.uuid5(uuid.NAMESPACE_DNS, str(number)),
            title=f"Title {number}",
            author=author,
            price=decimal.Decimal(number) / 100,
            cover=bytes(range(256)) * number,
            length=datetime.timedelta(days=number, microseconds=number),
            published=timezone.now(),
            from_address="2001:db8::1",
            rating=number / 3,
        )
        book.readers.add(ada)
        if ON_POSTGRESQL:
            models.Shelf.objects.create(
                labels=[["a", f"b,{number}"], ["\"c\"", "NULL"]],
                open_hours=(number, number + 8),
                lent=(timezone.now(), None),
                words=f"'book':{number + 1}",
            )


fill()
