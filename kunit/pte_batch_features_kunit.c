// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite: who implements each helper in this kernel, and whether that is
 * who it should be.
 *
 * An override is a macro that maps a helper's name to an architecture's
 * function, so the preprocessor knows. What it says is compared with the list
 * below, and the list with the headers: an override that got lost, for which
 * the fallback steps in without a word, is seen just as one that nobody has
 * listed.
 */
#include <kunit/test.h>

#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/stringify.h>
#include <linux/utsname.h>

#include "../../internal.h"
#ifdef HAVE_folio_pte_batch_header
#include <linux/folio_pte_batch.h>
#endif

/**
 * struct feature - one helper that an architecture may override
 * @helper: name in the contract
 * @is: what the name stands for in this kernel
 * @tree: the tree has it, with or without us
 */
struct feature {
	const char *helper;
	const char *is;
	bool tree;
};

#define FEATURE(name)	{ #name, __stringify(name), __is_defined(TREE_##name) }

static const struct feature features[] = {
	FEATURE(pte_batch_hint),
	FEATURE(pte_advance_pfn),
	FEATURE(set_ptes),
	FEATURE(wrprotect_ptes),
	FEATURE(get_and_clear_full_ptes),
	FEATURE(get_and_clear_ptes),
	FEATURE(clear_full_ptes),
	FEATURE(clear_ptes),
	FEATURE(clear_nonpresent_ptes),
	FEATURE(clear_young_dirty_ptes),
	FEATURE(test_and_clear_young_ptes),
	FEATURE(clear_flush_young_ptes),
	FEATURE(modify_prot_start_ptes),
	FEATURE(modify_prot_commit_ptes),
	FEATURE(modify_prot_ptes),
	FEATURE(set_access_flags_ptes),
	FEATURE(pte_run_present),
	FEATURE(flush_tlb_local_ptes),
	FEATURE(ptep_peek),
	FEATURE(tlb_modify_prot_run),
};

/* What the architecture's <asm/pgtable_batch.h> has to override. */
static const char *const overridden[] = {
#if defined(HAVE_folio_pte_batch_header) && !defined(PTE_BATCH_FORCE_GENERIC)
#ifdef CONFIG_X86
	"flush_tlb_local_ptes",
	/* Not for X86_64 alone, which UML has too. */
#ifdef CONFIG_X86_64
	"modify_prot_ptes", "set_access_flags_ptes", "tlb_modify_prot_run",
#endif
#endif
#ifdef CONFIG_ARM64
	"modify_prot_start_ptes", "modify_prot_commit_ptes",
	"flush_tlb_local_ptes",
#endif
#ifdef CONFIG_ARM64_CONTPTE
	"modify_prot_ptes", "set_access_flags_ptes", "ptep_peek",
	"tlb_modify_prot_run",
#endif
#ifdef CONFIG_PPC_BOOK3S_64
	"modify_prot_commit_ptes", "modify_prot_ptes", "set_access_flags_ptes",
#endif
#ifdef CONFIG_UML
	"modify_prot_ptes",
#endif
#endif
	NULL
};

/* How the functions that override are called. */
static const char *const prefixes[] = { "x86_", "arm64_", "powerpc_", "um_" };

static bool is_override(const struct feature *feature)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(feature->is, prefixes[i], len) &&
		    !strcmp(feature->is + len, feature->helper))
			return true;
	}
	return false;
}

static bool is_listed(const struct feature *feature)
{
	unsigned int i;

	for (i = 0; overridden[i]; i++)
		if (!strcmp(overridden[i], feature->helper))
			return true;
	return false;
}

static const char *who(const struct feature *feature)
{
	if (is_override(feature))
		return feature->is;
	if (feature->tree)
		return "the tree's own";
	return __is_defined(HAVE_folio_pte_batch_header) ? "fallback" : "missing";
}

static void feature_desc(const struct feature *feature, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s", feature->helper,
		 who(feature));
}

KUNIT_ARRAY_PARAM(feature, features, feature_desc);

/* Both ways: what is listed is an override, what is not listed is none. */
static void helper_is_who_it_should_be(struct kunit *test)
{
	const struct feature *feature = test->param_value;

	KUNIT_EXPECT_EQ_MSG(test, is_override(feature), is_listed(feature),
			    "%s is %s", feature->helper, feature->is);
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at;

	for (at = strstr(words, word); at; at = strstr(at + len, word))
		if ((at == words || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static unsigned int count_words(const char *words)
{
	unsigned int nr = *words != 0;

	for (; *words; words++)
		nr += *words == ' ';
	return nr;
}

/* The table above has every helper that the headers let be overridden. */
static void headers_have_no_other_helper(struct kunit *test)
{
	unsigned int i;

	if (!__is_defined(HAVE_folio_pte_batch_header))
		kunit_skip(test, "this tree has no contract");
	for (i = 0; i < ARRAY_SIZE(features); i++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      has_word(PTEBATCH_OVERRIDABLE,
					       features[i].helper),
				      "%s cannot be overridden",
				      features[i].helper);
	KUNIT_EXPECT_EQ_MSG(test, count_words(PTEBATCH_OVERRIDABLE),
			    ARRAY_SIZE(features), "the headers have %s",
			    PTEBATCH_OVERRIDABLE);
}

/* Without what the architecture does better, nothing of ours is an override. */
static void fallbacks_alone_override_nothing(struct kunit *test)
{
	unsigned int i;

	if (!__is_defined(PTE_BATCH_FORCE_GENERIC))
		kunit_skip(test, "built with the architecture's overrides");
	for (i = 0; i < ARRAY_SIZE(features); i++)
		KUNIT_EXPECT_FALSE_MSG(test, is_override(features + i),
				       "%s is %s", features[i].helper,
				       features[i].is);
}

/*
 * On 8xx with pages of 16K, an entry is four cells, and the value of the first
 * says nothing about the other three. The fallbacks are used there as they
 * are, so they must do without values.
 */
static void fallbacks_take_no_entry_for_a_number(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTEBATCH_RAW_VALUES, 0);
}

static struct kunit_case pte_batch_features_cases[] = {
	KUNIT_CASE_PARAM(helper_is_who_it_should_be, feature_gen_params),
	KUNIT_CASE(headers_have_no_other_helper),
	KUNIT_CASE(fallbacks_alone_override_nothing),
	KUNIT_CASE(fallbacks_take_no_entry_for_a_number),
	{}
};

static int pte_batch_features_init(struct kunit_suite *suite)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(features); i++)
		kunit_info(suite, "FEATURES %s: %s is %s\n",
			   init_utsname()->machine, features[i].helper,
			   who(features + i));
	return 0;
}

static struct kunit_suite pte_batch_features_suite = {
	.name = "pte_batch_features",
	.suite_init = pte_batch_features_init,
	.test_cases = pte_batch_features_cases,
};

kunit_test_suite(pte_batch_features_suite);
