"""What an application of somebody's own has: most kinds of columns, constraints and indexes."""

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

ON_POSTGRESQL = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")


class Author(models.Model):
    name = models.CharField(max_length=100, unique=True)
    born = models.DateField(null=True, db_index=True)
    notes = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(Lower("name"), F("born").desc(), name="author_lower")]


class Book(models.Model):
    id = models.UUIDField(primary_key=True)
    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, on_delete=models.PROTECT)
    price = models.DecimalField(max_digits=9, decimal_places=2)
    cover = models.BinaryField()
    length = models.DurationField()
    published = models.DateTimeField()
    from_address = models.GenericIPAddressField()
    rating = models.FloatField()
    readers = models.ManyToManyField(User)

    class Meta:
        constraints = [
            models.CheckConstraint(check=Q(price__gte=0) | Q(title="free"), name="price_at_least_0"),
            models.UniqueConstraint(fields=["title", "author"], name="once_an_author"),
        ]
        indexes = [
            models.Index(fields=["-published", "title"], name="newest_first"),
            models.Index(fields=["rating"], condition=Q(rating__gt=4), name="best"),
        ]


if ON_POSTGRESQL:
    from django.contrib.postgres import fields, indexes, search
    from django.contrib.postgres.constraints import ExclusionConstraint
    from django.contrib.postgres.fields import RangeOperators

    class Shelf(models.Model):
        labels = fields.ArrayField(fields.ArrayField(models.CharField(max_length=20)))
        open_hours = fields.IntegerRangeField()
        lent = fields.DateTimeRangeField()
        words = search.SearchVectorField()

        class Meta:
            constraints = [
                ExclusionConstraint(
                    name="one_at_a_time",
                    expressions=[("open_hours", RangeOperators.EQUAL), ("lent", RangeOperators.OVERLAPS)],
                    condition=Q(id__gt=1000),
                )
            ]
            indexes = [
                indexes.GinIndex(fields=["labels"], name="shelf_labels", fastupdate=False),
                indexes.GistIndex(fields=["words"], name="shelf_words"),
                indexes.BrinIndex(fields=["id"], name="shelf_ids", pages_per_range=4),
            ]
