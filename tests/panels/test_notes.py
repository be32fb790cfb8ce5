from diffnb.panels._notes import Notes


def test_notes_are_text_and_never_markup():
    view = Notes()
    view.show(["a < b", "", "<script>alert(1)</script>"])
    assert view.notes == ["a < b", "<script>alert(1)</script>"]
    assert view.value == "<p>a &lt; b</p><p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"


def test_no_notes_take_no_space():
    view = Notes()
    assert view.layout.display == "none"
    view.show(["something"])
    assert view.layout.display is None
